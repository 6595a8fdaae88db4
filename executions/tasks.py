"""Celery's doors."""

import uuid

from celery import shared_task
from celery.exceptions import Reject

from executions import retention, runner, worker
from executions.sweep import sweep
from executions.webhooks import courier, outbox


@shared_task(name="executions.run")
def run_execution(execution_id: str) -> None:
    """Run one execution, if it is still to be run."""
    resident = worker.resident()
    if resident.is_draining:
        # Back to the broker, for another worker.
        raise Reject("draining", requeue=True)
    runner.run(uuid.UUID(execution_id), resident=resident)


@shared_task(name="executions.sweep")
def run_sweep() -> None:
    """Put right what crashes and lost messages left."""
    sweep()


@shared_task(name="executions.retention")
def run_retention() -> None:
    """Remove what is older than its account's plan keeps."""
    retention.remove_old()
    outbox.remove_old()


@shared_task(name="webhooks.deliver")
def deliver_webhooks() -> None:
    """Deliver what is due, in threads that are not the worker's: returns at once."""
    courier.start_due()
