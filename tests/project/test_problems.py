"""One shape for every refusal, over every path that makes one."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError
from django.test import Client
from django.utils import timezone

from accounts.models import Account, ApiKey
from codeforge.errors import CodeForgeError, codes
from tests.cast import PROGRAM, Caller, Workbench, allow, refused

pytestmark = pytest.mark.django_db(transaction=True)

NOBODY = "00000000-0000-0000-0000-000000000000"


def quota(owner: Caller) -> Any:
    allow(monthly_runs=0)
    return owner.post("/v1/executions", PROGRAM)


def queue(owner: Caller) -> Any:
    allow(max_concurrency=0, max_queued=0)
    return owner.post("/v1/executions", PROGRAM)


def often(owner: Caller) -> Any:
    allow(reads_per_minute=1)
    owner.get("/v1/usage")
    return owner.get("/v1/usage")


def narrow(owner: Caller) -> Any:
    ApiKey.objects.update(scopes=["usage:read"])
    return owner.get("/v1/executions")


def suspended(owner: Caller) -> Any:
    Account.objects.update(suspended_at=timezone.now())
    return owner.get("/v1/usage")


def reused(owner: Caller) -> Any:
    owner.submit(key="k")
    return owner.post("/v1/executions", {**PROGRAM, "stdin": ""}, Idempotency_Key="k")


def finished(owner: Caller) -> Any:
    pk = owner.submit()["executionId"]
    Workbench().run_all()
    return owner.post(f"/v1/executions/{pk}/cancel")


REFUSALS: dict[str, tuple[int, str, Callable[[Caller], Any]]] = {
    "a wrong field": (400, "invalid_request", lambda owner: owner.post("/v1/executions", {})),
    "not JSON": (400, "invalid_request", lambda owner: owner.request("POST", "/v1/executions", b"{")),
    "a wrong parameter": (400, "invalid_request", lambda owner: owner.get("/v1/executions?x=1")),
    "a wrong content type": (
        400,
        "invalid_request",
        lambda owner: owner.request("POST", "/v1/executions", b"{}", content_type="text/plain"),
    ),
    "a wrong host": (400, "invalid_request", lambda owner: owner.get("/v1/usage", Host="evil.example")),
    "a limit above the plan": (
        400,
        "limit_above_plan",
        lambda owner: owner.post("/v1/executions", {**PROGRAM, "limits": {"diskMb": 1_000}}),
    ),
    "no key": (401, "unauthenticated", lambda owner: Caller(Account(), "").get("/v1/usage")),
    "no quota": (402, "quota_exceeded", quota),
    "suspended": (403, "account_suspended", suspended),
    "no such address": (404, "not_found", lambda owner: owner.get("/v1/nothing")),
    "no such address without a key": (404, "not_found", lambda owner: Caller(Account(), "").get("/v1/nothing")),
    "an address with a slash": (404, "not_found", lambda owner: owner.get("/v1/executions/")),
    "no such execution": (404, "not_found", lambda owner: owner.get(f"/v1/executions/{NOBODY}")),
    "an id that is none": (404, "not_found", lambda owner: owner.get("/v1/executions/x")),
    "a wrong method": (405, "method_not_allowed", lambda owner: owner.request("PUT", "/v1/executions")),
    "an OPTIONS request": (405, "method_not_allowed", lambda owner: owner.request("OPTIONS", "/v1/executions")),
    "a wrong method for the document": (
        405,
        "method_not_allowed",
        lambda owner: owner.request("POST", "/v1/openapi.json"),
    ),
    "finished": (409, "already_finished", finished),
    "too large": (
        413,
        "payload_too_large",
        lambda owner: owner.request("POST", "/v1/executions", b" " * (16 * 1024 * 1024 + 1)),
    ),
    "a key used again": (422, "idempotency_key_reused", reused),
    "a full queue": (429, "queue_full", queue),
    "too often": (429, "rate_limited", often),
    "a key without the scope": (403, "insufficient_scope", narrow),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_every_refusal_has_the_one_shape(owner: Caller, name: str) -> None:
    status, code, ask = REFUSALS[name]
    refused(ask(owner), status, code)


def test_every_code_is_among_them() -> None:
    shown = {code for _, code, _ in REFUSALS.values()} | {"internal_error", "unavailable"}
    assert shown == set(codes())


def test_a_wrong_method_says_which_are_right(owner: Caller) -> None:
    assert owner.request("PATCH", "/v1/executions").headers["Allow"] == "GET, HEAD, POST"


def test_a_bug_is_a_problem_that_tells_nothing(
    owner: Caller, monkeypatch: pytest.MonkeyPatch, log_text: Callable[[], str]
) -> None:
    def fail(**options: object) -> None:
        raise RuntimeError(secret)

    secret = "the secret of the bug"
    monkeypatch.setattr("executions.api.submit", fail)
    problem = refused(owner.post("/v1/executions", PROGRAM), 500, "internal_error")
    assert "secret" not in json.dumps(problem)
    assert problem["requestId"] in log_text()
    assert "RuntimeError" in log_text()
    assert secret not in log_text()


@pytest.mark.parametrize("error", [OperationalError("down"), InterfaceError("gone")])
def test_a_database_that_is_down_is_said_to_be_for_a_while(
    owner: Caller, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(secret: str) -> None:
        raise error

    monkeypatch.setattr("accounts.authentication.find_key", fail)
    response = owner.post("/v1/executions", PROGRAM)
    refused(response, 503, "unavailable")
    assert int(response.headers["Retry-After"]) > 0


def test_a_bug_outside_of_the_views_is_a_problem_too(owner: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(request: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("executions.strict_json.AlwaysJSON.select_renderer", fail)
    refused(owner.get("/v1/usage"), 500, "internal_error")


@pytest.mark.parametrize("code", codes())
def test_every_code_has_its_page(code: str) -> None:
    response = Client().get(f"/docs/errors/{code}")
    assert response.status_code == 200
    page = response.content.decode()
    assert code in page
    assert "Untitled" not in page
    assert len(codes()[code].explanation) > 80
    assert f"/docs/errors/{code}" in Client().get("/docs/errors").content.decode()


def test_every_refusal_is_a_code_of_its_own() -> None:
    def descendants(error: type[CodeForgeError]) -> list[type[CodeForgeError]]:
        return [inner for child in error.__subclasses__() for inner in (child, *descendants(child))]

    direct = CodeForgeError.__subclasses__()
    assert len(direct) == len(codes())
    assert {error.code for error in descendants(CodeForgeError)} == set(codes())


@pytest.mark.parametrize("offered", ["abcdefgh", "A1.b-c_d" * 8])
def test_a_well_formed_request_id_is_kept(owner: Caller, offered: str) -> None:
    assert owner.get("/v1/usage", X_Request_Id=offered).headers["X-Request-Id"] == offered


@pytest.mark.parametrize("offered", ["short", "x" * 65, "a b c d e f", "<script>x</script>", "é" * 10, "-abcdefgh"])
def test_another_request_id_is_replaced(owner: Caller, offered: str) -> None:
    given = owner.get("/v1/usage", X_Request_Id=offered).headers["X-Request-Id"]
    assert given != offered
    assert len(given) == 32


def test_pages_say_what_is_wrong_as_pages() -> None:
    response = Client().get("/nothing")
    assert response.status_code == 404
    assert response.headers["Content-Type"].startswith("text/html")
    assert response.headers["X-Request-Id"] in response.content.decode()
