"""Removes what is older than its account's plan keeps: program, outputs and the row. The usage ledger stays."""

import logging
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now

from accounts.entitlements import entitlements
from accounts.models import Account
from executions.models import UNFINISHED, Execution

logger = logging.getLogger(__name__)

# Small transactions, so that nobody waits for one; many in a run, so that a backlog is worked off within days.
_BATCH = 500
_BATCHES = 100


def remove_old() -> int:
    """Go through all accounts. How many executions were removed is returned. Safe several at once."""
    removed = 0
    for account in Account.objects.prefetch_related("overrides").order_by("pk").iterator(chunk_size=500):
        days = entitlements(account).retention_days
        if days is not None:
            removed += _remove_older_than(account, timedelta(days=days))
    if removed:
        logger.info("Removed %d executions that were older than their plans keep.", removed)
    return removed


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
