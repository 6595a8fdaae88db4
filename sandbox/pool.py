"""Warm sandboxes, and the one place that decides which sandbox an account's program runs in.

A fresh gVisor container costs a third of a second and half a CPU second, so sandboxes are started ahead: for each
language some stand ready, their supervisor waiting. `lease` hands one out, after a word with its supervisor; a broken
one is replaced without anybody noticing. A sandbox that was handed out belongs to the account it was handed out for,
for ever: it is destroyed afterwards, or, when the account asked for reuse and nothing was wrong, kept for the same
account. **No sandbox ever runs programs of two accounts**: `Sandbox.claim_for` refuses, and nothing else hands out.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from sandbox.docker import Sandbox
from sandbox.errors import SandboxError

logger = logging.getLogger(__name__)

SANDBOX_MB = 75  # resident memory of an idle sandbox, all its host processes together; about 70 were measured
DEMAND_MEMORY_S = 60  # how long a rise in demand keeps more sandboxes ready
REUSE_EXECUTIONS = 100
REUSE_SECONDS = 300
IDLE_SECONDS = 60  # how long a used sandbox waits for its account's next program
RETRY_SECONDS = 2  # after a start that failed, so that a broken engine is not hammered


@dataclass(frozen=True, slots=True)
class PoolSize:
    """How much may wait for work: ``per_language`` sandboxes ready for one language, as many kept for their accounts
    altogether, and ``memory_mb`` for all of them."""

    per_language: int
    memory_mb: int

    @property
    def total(self) -> int:
        return max(1, self.memory_mb // SANDBOX_MB)


@dataclass(slots=True)
class Lease:
    """A sandbox for one account's program. ``reusable``: set by who used it, when nothing at all was wrong."""

    language: str
    account: str
    sandbox: Sandbox
    waited_ms: int
    executions: int = 1
    first_used: float = field(default_factory=time.monotonic)
    returned: float = 0.0
    reusable: bool = False


class Pool:
    """Thread-safe. ``start`` starts one sandbox of a language and returns when its supervisor is ready."""

    def __init__(self, start: Callable[[str], Sandbox], languages: list[str], size: PoolSize, *, starters: int) -> None:
        self._start = start
        self._size = size
        self._ready: dict[str, deque[Sandbox]] = {language: deque() for language in languages}
        self._starting = dict.fromkeys(languages, 0)
        self._in_use = dict.fromkeys(languages, 0)
        self._demand = {language: _Demand() for language in languages}
        self._kept: list[Lease] = []  # used before, waiting for their account; the longest waiting first
        self._changed = threading.Condition()
        self._closed = False
        # Nobody waits for a used sandbox to be gone: the next run would only wait for the engine.
        self._removals = ThreadPoolExecutor(max_workers=starters, thread_name_prefix="remove-sandbox")
        self._leased: set[Sandbox] = set()
        self._starters = [
            threading.Thread(target=self._keep_ready, name=f"start-sandbox-{number}", daemon=True)
            for number in range(starters)
        ]
        for starter in self._starters:
            starter.start()

    @contextmanager
    def lease(self, language: str, *, account: str, reuse: bool) -> Iterator[Lease]:
        """A sandbox that has run nothing, or, with ``reuse``, only programs of this account. Raises `SandboxError`."""
        lease = self._take(language, account, reuse)
        try:
            yield lease
        except BaseException:
            lease.reusable = False
            raise
        finally:
            self._give_back(lease, keep=reuse and lease.reusable)

    def state(self) -> dict[str, dict[str, int]]:
        """By language: how many stand ready, are being started, are in use, are kept for their account."""
        with self._changed:
            return {
                language: {
                    "ready": len(self._ready[language]),
                    "starting": self._starting[language],
                    "inUse": self._in_use[language],
                    "kept": sum(lease.language == language for lease in self._kept),
                    "target": self._target(language),
                }
                for language in self._ready
            }

    def close(self) -> None:
        """Destroy every sandbox. Runs that still go on end with `SandboxLost`."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            left = [sandbox for ready in self._ready.values() for sandbox in ready]
            left += [lease.sandbox for lease in self._kept]
            in_use = list(self._leased)
            for ready in self._ready.values():
                ready.clear()
            self._kept.clear()
        for sandbox in in_use:
            sandbox.kill()
        for sandbox in left:
            self._removals.submit(sandbox.remove)
        for starter in self._starters:
            starter.join()
        self._removals.shutdown(wait=True)

    def _take(self, language: str, account: str, reuse: bool) -> Lease:
        began = time.monotonic()
        if reuse:
            while (kept := self._take_kept(language, account)) is not None:
                kept.waited_ms = _ms_since(began)
                kept.executions += 1
                kept.reusable = False
                if self._is_well(kept.sandbox):
                    return kept
                self._give_back(kept, keep=False)
        with self._changed:
            self._enter(language)
        try:
            sandbox = self._take_fresh(language)
            sandbox.claim_for(account)
        except BaseException:
            with self._changed:
                self._in_use[language] -= 1
            raise
        with self._changed:
            self._leased.add(sandbox)
        return Lease(language, account, sandbox, _ms_since(began))

    def _enter(self, language: str) -> None:
        """Count one more in use. The caller holds the lock."""
        self._in_use[language] += 1
        self._demand[language].rose_to(self._in_use[language])

    def _take_kept(self, language: str, account: str) -> Lease | None:
        with self._changed:
            for lease in self._kept:
                if lease.language == language and lease.account == account:
                    self._kept.remove(lease)
                    lease.sandbox.claim_for(account)
                    self._enter(language)
                    self._leased.add(lease.sandbox)
                    return lease
        return None

    def _take_fresh(self, language: str) -> Sandbox:
        while True:
            with self._changed:
                ready = self._ready[language]
                sandbox = ready.popleft() if ready else None
                self._changed.notify_all()
            if sandbox is None:
                return self._start(language)
            if self._is_well(sandbox):
                return sandbox
            logger.warning("a sandbox that stood ready for %s is not well: another one is taken", language)
            self._removals.submit(sandbox.remove)

    @staticmethod
    def _is_well(sandbox: Sandbox) -> bool:
        try:
            sandbox.ping()
        except SandboxError:
            return False
        return True

    def _discard(self, sandbox: Sandbox) -> None:
        with self._changed:
            self._leased.discard(sandbox)
            if not self._closed:
                self._removals.submit(sandbox.remove)
                return
        sandbox.remove()  # nobody else is left to do it

    def _give_back(self, lease: Lease, *, keep: bool) -> None:
        now = time.monotonic()
        spent = lease.executions >= REUSE_EXECUTIONS or now - lease.first_used >= REUSE_SECONDS
        with self._changed:
            self._in_use[lease.language] -= 1
            if keep and not spent and not self._closed:
                self._leased.discard(lease.sandbox)
                lease.returned = now
                self._kept.append(lease)
                gone = self._expired(now)
            else:
                gone = [lease]
            self._changed.notify_all()
        for other in gone:
            self._discard(other.sandbox)

    def _expired(self, now: float) -> list[Lease]:
        """Kept sandboxes that waited too long, or are more than the pool may hold. The caller holds the lock."""
        gone = []
        while self._kept and (
            now - self._kept[0].returned > IDLE_SECONDS or len(self._kept) > max(self._size.per_language, 1)
        ):
            gone.append(self._kept.pop(0))
        return gone

    def _keep_ready(self) -> None:
        """A starter's life: start what is short, until the pool is closed."""
        while (language := self._next_to_start()) is not None:
            sandbox = None
            try:
                sandbox = self._start(language)
            except Exception as error:  # noqa: BLE001  whatever it was: a starter that dies leaves the pool cold for ever
                logger.warning("a sandbox for %s could not be started ahead: %r", language, error)
            with self._changed:
                self._starting[language] -= 1
                if sandbox is not None and not self._closed:
                    self._ready[language].append(sandbox)
                    continue
                if sandbox is None:
                    self._changed.wait_for(lambda: self._closed, RETRY_SECONDS)
            if sandbox is not None:
                sandbox.remove()

    def _next_to_start(self) -> str | None:
        """Wait until some language is short of ready sandboxes; None when the pool is closed."""
        with self._changed:
            while not self._closed:
                for lease in self._expired(time.monotonic()):
                    self._removals.submit(lease.sandbox.remove)
                short = [language for language in self._ready if self._standing(language) < self._target(language)]
                if short and sum(map(self._standing, self._ready)) + len(self._kept) < self._size.total:
                    # The emptiest first: a language without any makes its next program wait.
                    language = min(short, key=self._standing)
                    self._starting[language] += 1
                    return language
                self._changed.wait(timeout=IDLE_SECONDS / 4)
            return None

    def _standing(self, language: str) -> int:
        return len(self._ready[language]) + self._starting[language]

    def _target(self, language: str) -> int:
        return min(self._size.per_language, max(1, self._demand[language].peak()))


class _Demand:
    """The most that were in use at once of late."""

    def __init__(self) -> None:
        self._peak = 0
        self._at = 0.0

    def rose_to(self, number: int) -> None:
        if number >= self.peak():
            self._peak, self._at = number, time.monotonic()

    def peak(self) -> int:
        return self._peak if time.monotonic() - self._at < DEMAND_MEMORY_S else 0


def _ms_since(began: float) -> int:
    return round((time.monotonic() - began) * 1_000)
