import uuid
from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import UsageRecord
from executions import lifecycle
from executions.models import Execution
from tests.cast import Caller, Workbench, allow, at_once, read, refused

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_waits_is_cancelled_at_once_and_costs_nothing(owner: Caller, workbench: Workbench) -> None:
    shown = owner.submit()

    response = owner.post(f"/v1/executions/{shown['executionId']}/cancel")

    assert response.status_code == 200
    cancelled = read(response)
    assert (cancelled["status"], cancelled["attempts"]) == ("CANCELLED", 0)
    assert (cancelled["stdout"], cancelled["stderr"], cancelled["phase"]) == ("", "", None)
    assert cancelled["finishedAt"]
    workbench.run(shown["executionId"])
    assert workbench.fake.jobs == []
    assert not UsageRecord.objects.exists()


def test_what_runs_is_asked_to_stop(owner: Caller) -> None:
    shown = owner.submit()
    lifecycle.claim(uuid.UUID(shown["executionId"]), worker_id=uuid.uuid4())

    response = owner.post(f"/v1/executions/{shown['executionId']}/cancel")

    assert response.status_code == 202
    assert read(response)["status"] == "RUNNING"
    assert Execution.objects.get().cancel_requested_at is not None


def test_asking_again_changes_nothing(owner: Caller) -> None:
    shown = owner.submit()
    lifecycle.claim(uuid.UUID(shown["executionId"]), worker_id=uuid.uuid4())
    owner.post(f"/v1/executions/{shown['executionId']}/cancel")
    asked = Execution.objects.get().cancel_requested_at

    assert owner.post(f"/v1/executions/{shown['executionId']}/cancel").status_code == 202
    assert Execution.objects.get().cancel_requested_at == asked


@pytest.mark.parametrize("ended", ["finished", "cancelled"])
def test_what_has_ended_cannot_be_cancelled(owner: Caller, workbench: Workbench, ended: str) -> None:
    shown = owner.submit()
    if ended == "finished":
        workbench.run_all()
    else:
        owner.post(f"/v1/executions/{shown['executionId']}/cancel")

    refused(owner.post(f"/v1/executions/{shown['executionId']}/cancel"), 409, "already_finished")


def test_cancelling_frees_the_slot_for_the_next(owner: Caller) -> None:

    allow(max_concurrency=1)
    first, second = owner.submit(), owner.submit()
    owner.post(f"/v1/executions/{first['executionId']}/cancel")
    assert Execution.objects.get(pk=second["executionId"]).admitted_at is not None


def test_cancelling_and_claiming_at_once_have_one_winner(owner: Caller, workbench: Workbench) -> None:
    for _ in range(10):
        pk = owner.submit()["executionId"]
        at_once([partial(workbench.run, pk), partial(owner.post, f"/v1/executions/{pk}/cancel")])
        shown = owner.look(pk)
        assert shown["status"] in {"SUCCEEDED", "CANCELLED"}
        assert UsageRecord.objects.filter(execution_id=pk).count() == shown["attempts"]


def test_what_a_program_printed_is_read_for_the_answer_only(owner: Caller) -> None:
    path = f"/v1/executions/{owner.submit()['executionId']}"
    for call, times in ((partial(owner.post, f"{path}/cancel"), 1), (partial(owner.delete, path), 0)):
        with CaptureQueriesContext(connection) as made:
            call()
        reading = [query for query in made if query["sql"].startswith("SELECT") and '."stdout"' in query["sql"]]
        assert len(reading) == times


def test_a_body_is_not_read(owner: Caller) -> None:
    shown = owner.submit()
    assert owner.request("POST", f"/v1/executions/{shown['executionId']}/cancel", b"\xff{").status_code == 200
