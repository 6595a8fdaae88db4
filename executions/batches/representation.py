"""A batch as every door and webhook shows it."""

from typing import Any

from executions import representation
from executions.batches import state
from executions.models import Batch


def shown(batch: Batch) -> dict[str, Any]:
    now = state.state_of(batch)
    return {
        "batchId": str(batch.pk),
        "status": now.status,
        "total": batch.total,
        "counts": now.counts,
        "metadata": batch.metadata,
        "createdAt": representation.time(batch.created_at),
        "finishedAt": representation.time(now.finished_at),
    }
