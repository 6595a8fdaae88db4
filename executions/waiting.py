"""`?wait=`: a request sleeps until its execution has ended, woken by the event and never by polling.

While it sleeps it holds a thread, and no database connection. A process holds a bounded number of sleepers; who comes
after that gets the present state at once, which the contract allows.
"""

import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable

from django.conf import settings
from django.db import connection

from executions import notify, queries
from executions.listening import Listener

# How long the very first request of a process waits for the listener to be connected.
_CONNECTS_WITHIN_S = 2.0


class Waiters:
    """Who sleeps in this process, by the execution or the batch that is waited for."""

    def __init__(self, *, most: int) -> None:
        self._room = threading.BoundedSemaphore(most) if most > 0 else None
        self._lock = threading.Lock()
        self._sleepers: dict[uuid.UUID, set[threading.Event]] = defaultdict(set)
        self._listener: Listener | None = None

    def wait(self, awaited: uuid.UUID, *, seconds: float, is_finished: Callable[[uuid.UUID], bool]) -> None:
        """Return when an execution or a batch has ended or the time is up, whichever is first."""
        until = time.monotonic() + seconds
        if self._room is None or not self._room.acquire(blocking=False):
            return
        woken = threading.Event()
        with self._lock:
            self._sleepers[awaited].add(woken)
        try:
            # First subscribed and listening, then looked: what ends in between is seen by one of the two.
            if not self._listens():
                return
            while not is_finished(awaited):
                _release_connection()
                if not woken.wait(max(0.0, until - time.monotonic())):
                    return
                woken.clear()
        finally:
            with self._lock:
                self._sleepers[awaited].discard(woken)
                if not self._sleepers[awaited]:
                    del self._sleepers[awaited]
            self._room.release()

    def close(self) -> None:
        with self._lock:
            listener, self._listener = self._listener, None
        if listener is not None:
            listener.stop()

    def _listens(self) -> bool:
        with self._lock:
            if self._listener is None:
                self._listener = Listener({notify.FINISHED: self._wake}, on_gap=self._wake_all)
                self._listener.start()
            listener = self._listener
        return listener.is_listening(within_s=_CONNECTS_WITHIN_S)

    def _wake(self, payload: str) -> None:
        with self._lock:
            for woken in self._sleepers.get(uuid.UUID(payload), ()):
                woken.set()

    def _wake_all(self) -> None:
        with self._lock:
            for sleepers in self._sleepers.values():
                for woken in sleepers:
                    woken.set()


def _release_connection() -> None:
    """Give the connection back to the pool. Inside a transaction, as some tests have one, it must stay."""
    if not connection.in_atomic_block:
        connection.close()


_waiters: Waiters | None = None
_making = threading.Lock()


def wait_until_finished(
    awaited: uuid.UUID, *, seconds: float, is_finished: Callable[[uuid.UUID], bool] | None = None
) -> None:
    """Sleep until an execution, or what ``is_finished`` is about, has ended, at most ``seconds``."""
    global _waiters  # noqa: PLW0603  made by the first request, so after the web server has forked
    with _making:
        if _waiters is None:
            _waiters = Waiters(most=settings.CODEFORGE_MAX_WAITERS)
    if seconds > 0:
        _waiters.wait(awaited, seconds=seconds, is_finished=is_finished or queries.is_finished)
