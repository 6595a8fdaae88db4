from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import UsageRecord
from executions import retention
from executions.models import Evaluation, Execution
from tests.cast import Caller, Workbench, allow, read, refused

pytestmark = pytest.mark.django_db(transaction=True)


def make_older(execution_id: str, days: int) -> None:
    Execution.objects.filter(pk=execution_id).update(created_at=timezone.now() - timedelta(days=days))


def test_what_is_older_than_the_plan_keeps_is_removed_and_stays_counted(owner: Caller, workbench: Workbench) -> None:
    old, young = owner.submit(key="k")["executionId"], owner.submit()["executionId"]
    workbench.run_all()
    make_older(old, days=31)
    make_older(young, days=29)

    assert retention.remove_old() == 1

    refused(owner.get(f"/v1/executions/{old}"), 404, "not_found")
    assert owner.look(young)["status"] == "SUCCEEDED"
    assert UsageRecord.objects.count() == 2


def test_each_account_keeps_as_long_as_its_own_numbers_say(
    owner: Caller, stranger: Caller, workbench: Workbench
) -> None:
    allow(owner.account, retention_days=None)
    allow(stranger.account, retention_days=1)
    mine, theirs = owner.submit()["executionId"], stranger.submit()["executionId"]
    workbench.run_all()
    make_older(mine, days=3_000)
    make_older(theirs, days=2)

    retention.remove_old()

    assert list(Execution.objects.values_list("account__name", flat=True)) == ["Owner"]


def test_what_has_not_ended_is_left_until_it_has(owner: Caller) -> None:
    make_older(owner.submit()["executionId"], days=100)
    assert retention.remove_old() == 0


def test_a_backlog_is_worked_off_in_batches(
    owner: Caller, workbench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "_BATCH", 2)
    for _ in range(5):
        make_older(owner.submit()["executionId"], days=40)
    workbench.run_all()
    assert retention.remove_old() == 5


def test_a_score_outlives_the_runs_that_it_is_made_of(owner: Caller, workbench: Workbench) -> None:
    asked = {
        "language": "python",
        "problems": [{"id": "p", "tests": [{"stdin": "4", "expectedStdout": "4"}]}],
        "candidates": [{"problemId": "p", "source": "a"}],
    }
    pk = read(owner.post("/v1/evaluations", asked))["evaluationId"]
    workbench.run_all()
    make_older(str(Execution.objects.get().pk), days=40)
    Evaluation.objects.update(created_at=timezone.now() - timedelta(days=40))

    assert retention.remove_old() == 1

    assert read(owner.get(f"/v1/evaluations/{pk}"))["passAtK"]["1"]["value"] == 1.0
