"""What the admin's first page shows."""

from typing import Any

from accounts import rates
from accounts.models import BetaRequest
from executions import health


def what_goes_on() -> dict[str, Any]:
    """Beta requests that wait, and the state of queue, workers and runs in the last day."""
    now = health.snapshot()
    return {
        "beta_waiting": BetaRequest.objects.filter(state=BetaRequest.State.WAITING).count(),
        "rates_enforced": rates.are_enforced(),
        "health": now,
        "most_in_an_hour": max((hour.total for hour in now.hours), default=0),
    }
