import json
import threading
import uuid

import pytest
from django.db import IntegrityError

from accounts.models import UsageRecord
from executions.models import Execution
from executions.submission import fingerprint_of
from tests.cast import PROGRAM, Caller, Workbench, allow, at_once, read, refused

pytestmark = pytest.mark.django_db(transaction=True)

THREADS = 50


def test_the_same_key_and_body_give_the_same_execution_in_its_present_state(
    owner: Caller, workbench: Workbench
) -> None:
    first = owner.submit(key="k")
    workbench.run_all()

    response = owner.post("/v1/executions", PROGRAM, Idempotency_Key="k")

    assert response.status_code == 200
    assert response.headers["Idempotency-Replayed"] == "true"
    assert response.headers["Location"].endswith(first["executionId"])
    assert read(response)["executionId"] == first["executionId"]
    assert read(response)["status"] == "SUCCEEDED"
    assert Execution.objects.count() == UsageRecord.objects.count() == 1


def test_the_order_of_fields_and_white_space_do_not_matter(owner: Caller) -> None:
    first = owner.submit(key="k")
    other = json.dumps({name: PROGRAM[name] for name in reversed(list(PROGRAM))}, indent=3).encode()

    response = owner.request("POST", "/v1/executions", other, Idempotency_Key="k")

    assert read(response)["executionId"] == first["executionId"]


@pytest.mark.parametrize("change", [{"source": "x"}, {"stdin": "4"}, {"metadata": {"a": "b"}}, {"args": []}])
def test_another_body_is_refused(owner: Caller, change: dict[str, object]) -> None:
    owner.submit(key="k")

    refused(owner.post("/v1/executions", {**PROGRAM, **change}, Idempotency_Key="k"), 422, "idempotency_key_reused")
    assert Execution.objects.count() == 1


def test_a_key_belongs_to_its_account(owner: Caller, stranger: Caller) -> None:
    assert owner.submit(key="k")["executionId"] != stranger.submit(key="k")["executionId"]


def test_a_key_is_distinguished_by_case(owner: Caller) -> None:
    assert owner.submit(key="k")["executionId"] != owner.submit(key="K")["executionId"]


def test_without_a_key_each_request_is_new(owner: Caller) -> None:
    assert owner.submit()["executionId"] != owner.submit()["executionId"]


def test_a_replay_costs_nothing_when_the_quota_is_used_up(owner: Caller) -> None:
    allow(monthly_runs=1)
    first = owner.submit(key="k")
    refused(owner.post("/v1/executions", PROGRAM), 402, "quota_exceeded")

    assert owner.submit(key="k")["executionId"] == first["executionId"]


def test_a_request_refused_for_the_quota_leaves_its_key_free(owner: Caller) -> None:
    allow(monthly_runs=0)
    refused(owner.post("/v1/executions", PROGRAM, Idempotency_Key="k"), 402, "quota_exceeded")
    allow(monthly_runs=1)

    assert owner.post("/v1/executions", PROGRAM, Idempotency_Key="k").status_code == 202


def test_a_replay_is_answered_when_the_request_would_be_refused_by_now(
    owner: Caller, workbench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = owner.submit(key="k", version="3.13")
    monkeypatch.setattr("executions.serializers.offered", dict)
    refused(owner.post("/v1/executions", {**PROGRAM, "version": "3.13"}), 400, "invalid_request")

    assert owner.submit(key="k", version="3.13")["executionId"] == first["executionId"]


def test_fifty_at_the_same_moment_make_one_execution(owner: Caller, workbench: Workbench) -> None:
    def post() -> tuple[int, str]:
        response = owner.post("/v1/executions", PROGRAM, Idempotency_Key="k")
        return response.status_code, read(response)["executionId"]

    answers = at_once([post] * THREADS)

    assert len({execution_id for _, execution_id in answers}) == 1
    assert sorted(status for status, _ in answers) == [200] * (THREADS - 1) + [202]
    assert Execution.objects.count() == 1
    workbench.run_all()
    assert len(workbench.fake.jobs) == 1
    assert UsageRecord.objects.count() == 1


def test_control_looking_before_inserting_lets_several_through(owner: Caller) -> None:
    """The same race against what one would write first: it shows that the test above can fail."""
    account = owner.account
    looked = threading.Barrier(THREADS)

    def naive() -> uuid.UUID:
        found = Execution.objects.filter(account=account, metadata={"key": "k"}).first()
        looked.wait(timeout=30)
        return (found or Execution.objects.create(account=account, limits={}, metadata={"key": "k"})).pk

    assert len(set(at_once([naive] * THREADS))) > 1


def test_the_database_itself_refuses_a_second_row_with_the_key(owner: Caller) -> None:
    owner.submit(key="k")
    with pytest.raises(IntegrityError):
        Execution.objects.create(account=owner.account, limits={}, idempotency_key="k", fingerprint=fingerprint_of({}))


def test_a_request_in_flight_is_waited_for_and_replayed(owner: Caller, workbench: Workbench) -> None:
    first = owner.submit(key="k")
    workbench.run_all()
    shown = owner.submit(key="k", wait=5)
    assert (shown["executionId"], shown["status"]) == (first["executionId"], "SUCCEEDED")
