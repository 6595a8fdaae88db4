"""Removes what is older than its account's plan keeps: program, outputs and the row. The usage ledger stays."""

import logging
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now

from accounts.entitlements import entitlements
from accounts.models import Account
from executions.evaluations import scoring
from executions.models import UNFINISHED, Evaluation, Execution

logger = logging.getLogger(__name__)

# Small transactions, so that nobody waits for one; many in a run, so that a backlog is worked off within days.
_BATCH = 500
_BATCHES = 100
# No plan keeps runs for less.
_REPORTED_AFTER = timedelta(hours=12)


def remove_old() -> int:
    """Go through all accounts. How many executions were removed is returned. Safe several at once."""
    keep_scores()
    removed = 0
    for account in Account.objects.prefetch_related("overrides").order_by("pk").iterator(chunk_size=500):
        days = entitlements(account).retention_days
        if days is not None:
            removed += _remove_older_than(account, timedelta(days=days))
    if removed:
        logger.info("Removed %d executions that were older than their plans keep.", removed)
    return removed


def keep_scores() -> None:
    """Make the reports that nobody has asked for while the runs are still here: a score outlives what it is made of."""
    ended = Evaluation.objects.filter(report__isnull=True, created_at__lt=Now() - _REPORTED_AFTER).select_related(
        "batch"
    )
    for evaluation in ended.order_by("created_at")[:_BATCH]:
        scoring.report_of(evaluation)


def _remove_older_than(account: Account, age: timedelta) -> int:
    """By the time of creation, which the list's index is in the order of. What has not ended is left until it has."""
    removed = 0
    for _ in range(_BATCHES):
        with transaction.atomic():
            old = Execution.objects.select_for_update(skip_locked=True).filter(
                account=account, created_at__lt=Now() - age
            )
            ids = list(old.exclude(status__in=UNFINISHED).order_by("created_at").values_list("pk", flat=True)[:_BATCH])
            Execution.objects.filter(pk__in=ids).delete()
        removed += len(ids)
        if len(ids) < _BATCH:
            break
    return removed
