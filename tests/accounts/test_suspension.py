import pytest

from accounts import suspension
from accounts.models import Account
from executions import sweep
from executions.models import Execution
from sandbox.fake import FakeEvaluator, result
from sandbox.job import Job
from sandbox.result import Result
from tests.cast import PROGRAM, Caller, Workbench, allow, refused

pytestmark = pytest.mark.django_db(transaction=True)


def statuses(account: Account) -> list[str]:
    return list(Execution.objects.filter(account=account).order_by("created_at").values_list("status", flat=True))


def test_what_runs_ends_and_what_waits_does_not_start_until_the_account_is_restored(owner: Caller) -> None:
    allow(max_concurrency=1)
    for _ in range(2):
        owner.submit()

    def while_it_runs(fake: FakeEvaluator, job: Job) -> Result:
        assert suspension.suspend(owner.account, by=None, reason="Abuse.")
        return result(job)

    Workbench(while_it_runs).run_all()
    sweep.sweep()
    Workbench().run_all()

    assert statuses(owner.account) == ["SUCCEEDED", "QUEUED"]
    refused(owner.post("/v1/executions", PROGRAM), 403, "account_suspended")

    assert suspension.restore(owner.account, by=None, reason="Cleared.")
    sweep.sweep()
    Workbench().run_all()
    assert statuses(owner.account) == ["SUCCEEDED", "SUCCEEDED"]


def test_what_is_admitted_but_has_not_started_does_not_start_either(owner: Caller, workbench: Workbench) -> None:
    owner.submit()
    suspension.suspend(owner.account, by=None, reason="x")
    for pk in _ids(owner.account):
        workbench.run(pk)
    assert statuses(owner.account) == ["QUEUED"]


def _ids(account: Account) -> list[str]:
    return [str(pk) for pk in Execution.objects.filter(account=account).values_list("pk", flat=True)]


def test_twice_is_once(owner: Caller) -> None:
    assert suspension.suspend(owner.account, by=None, reason="x")
    assert not suspension.suspend(owner.account, by=None, reason="x")
    assert suspension.restore(owner.account, by=None, reason="x")
    assert not suspension.restore(owner.account, by=None, reason="x")
