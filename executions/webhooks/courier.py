"""Threads that deliver, in each worker process: a slow server must not take the place of a run."""

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from django.db import connection

from executions.webhooks.delivery import attempt, claim_next
from executions.webhooks.models import WebhookDelivery

logger = logging.getLogger(__name__)

THREADS = 8
_free = threading.BoundedSemaphore(THREADS)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="courier")


def start_due() -> None:
    """Let free threads deliver what is due, and return at once."""
    while _free.acquire(blocking=False):
        claim = None
        try:
            claim = claim_next()
        finally:
            if claim is None:
                _free.release()
        if claim is None:
            return
        _threads().submit(_work, claim)


def _work(claim: WebhookDelivery | None) -> None:
    try:
        while claim is not None:
            attempt(claim)
            claim = claim_next()
    except Exception:
        # Whatever it was, the lease runs out and somebody tries again.
        logger.exception("A delivery was interrupted")
    finally:
        connection.close()
        _free.release()
