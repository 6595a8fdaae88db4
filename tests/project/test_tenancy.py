"""A stranger walks every address: what is another's is answered exactly like what is not there."""

import re
import uuid
from typing import Any

import pytest
from django.urls import get_resolver
from django.urls.resolvers import URLPattern, URLResolver

from tests.cast import Caller, Workbench, read

pytestmark = pytest.mark.django_db(transaction=True)


def addresses(patterns: list[Any] | None = None, prefix: str = "") -> list[str]:
    """Every address of the site, from the resolver, so that none is forgotten."""
    found = []
    for pattern in patterns or get_resolver().url_patterns:
        path = prefix + str(pattern.pattern).strip("^$")
        if isinstance(pattern, URLResolver):
            found += addresses(pattern.url_patterns, path)
        elif isinstance(pattern, URLPattern):
            found.append(path)
    return found


def mine() -> list[str]:
    return [address for address in addresses() if "<uuid:execution_id>" in address and address.startswith("v1/")]


def test_there_are_addresses_to_walk() -> None:
    assert len(mine()) == 3


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "PUT", "PATCH"])
def test_what_is_anothers_is_answered_like_what_is_not_there(
    owner: Caller, stranger: Caller, workbench: Workbench, method: str
) -> None:
    finished, queued = owner.submit(key="k")["executionId"], None
    workbench.run_all()
    queued = owner.submit()["executionId"]
    for address in mine():
        unknown = answer(stranger, method, address, str(uuid.uuid4()))
        for pk in (finished, queued):
            assert answer(stranger, method, address, pk) == unknown
            assert answer(stranger, method, address, pk, "?wait=1") == answer(
                stranger, method, address, str(uuid.uuid4()), "?wait=1"
            )
    assert owner.look(finished)["status"] == "SUCCEEDED"
    assert owner.look(queued)["status"] == "QUEUED"


def answer(caller: Caller, method: str, address: str, pk: str, query: str = "") -> tuple[int, dict[str, Any]]:
    response = caller.request(method, "/" + address.replace("<uuid:execution_id>", pk) + query)
    body = read(response)
    body.pop("requestId")
    return response.status_code, body


@pytest.mark.parametrize("address", [address for address in addresses() if address.startswith("v1/")])
def test_without_a_key_only_what_is_public_answers(visitor: Caller, address: str) -> None:
    response = visitor.get("/" + re.sub("<uuid:[a-z_]+>", str(uuid.uuid4()), address))
    public = address in {"v1/runtimes", "v1/openapi.json"}
    assert response.status_code == (200 if public else 405 if address.endswith("/cancel") else 401) or (
        address.endswith("/cancel") and response.status_code == 401
    )


def test_a_stranger_sees_nothing_in_lists_and_counts(owner: Caller, stranger: Caller, workbench: Workbench) -> None:
    owner.submit(metadata={"a": "b"})
    workbench.run_all()
    assert read(stranger.get("/v1/executions"))["data"] == []
    assert read(stranger.get("/v1/executions?metadata[a]=b&status=SUCCEEDED"))["data"] == []
    usage = read(stranger.get("/v1/usage"))
    assert usage["runs"]["used"] == 0
    assert usage["concurrency"]["queued"] == 0
