from functools import partial
from typing import Any

import pytest

from executions.models import Execution
from executions.webhooks.models import WebhookDelivery
from tests.cast import PROGRAM, Caller, Workbench, allow, at_once, read
from tests.webhooks.receiver import Receiver, add_endpoint, deliver_due

pytestmark = pytest.mark.django_db(transaction=True)

EVALUATION: dict[str, Any] = {
    "language": "python",
    "problems": [{"id": "p", "tests": [{"stdin": "4", "expectedStdout": "4"}]}],
    "candidates": [{"problemId": "p", "source": "a"}, {"problemId": "p", "source": "b"}],
}


def told(receiver: Receiver, secret: str) -> list[tuple[str, str]]:
    return [(event["type"], event["data"]["status"]) for event in receiver.verified(secret)]


def test_the_end_of_a_batch_is_told_once_as_the_api_shows_it(
    owner: Caller, workbench: Workbench, receiver: Receiver
) -> None:
    endpoint = add_endpoint(owner, receiver.url)
    made = read(owner.post("/v1/batches", {"executions": [PROGRAM] * 3}))
    workbench.run_all()
    while deliver_due():
        pass
    (event,) = receiver.verified(endpoint["secret"])
    assert event["type"] == "batch.finished"
    assert event["data"] == read(owner.get(f"/v1/batches/{made['batchId']}"))


def test_the_end_of_an_evaluation_is_told_with_its_scores(
    owner: Caller, workbench: Workbench, receiver: Receiver
) -> None:
    endpoint = add_endpoint(owner, receiver.url, events=["evaluation.finished", "batch.finished"])
    made = read(owner.post("/v1/evaluations", EVALUATION))
    workbench.run_all()
    while deliver_due():
        pass
    (event,) = receiver.verified(endpoint["secret"])
    assert event["type"] == "evaluation.finished"
    assert event["data"] == read(owner.get(f"/v1/evaluations/{made['evaluationId']}"))
    assert event["data"]["passAtK"]["1"]["value"] == 1.0


def test_a_batch_that_is_cancelled_has_ended(owner: Caller, receiver: Receiver) -> None:
    endpoint = add_endpoint(owner, receiver.url, events=["batch.finished"])
    made = read(owner.post("/v1/batches", {"executions": [PROGRAM] * 3}))
    owner.post(f"/v1/batches/{made['batchId']}/cancel")
    while deliver_due():
        pass
    assert told(receiver, endpoint["secret"]) == [("batch.finished", "CANCELLED")]


def test_when_the_last_end_together_it_is_told_once(owner: Caller, receiver: Receiver) -> None:
    """Without the lock, each of them would see the others unfinished, and it would not be told at all."""
    add_endpoint(owner, receiver.url, events=["batch.finished"])
    allow(max_concurrency=8)
    for _ in range(5):
        owner.post("/v1/batches", {"executions": [PROGRAM] * 8})
        bench = Workbench()
        ids = Execution.objects.filter(status="QUEUED").values_list("pk", flat=True)
        at_once([partial(bench.run, pk) for pk in ids])
    assert WebhookDelivery.objects.count() == 5
