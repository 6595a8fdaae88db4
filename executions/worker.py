"""What lives as long as a worker process: its evaluator, its row, and the threads that keep its promises.

A worker promises that whatever it claimed comes to an end: it renews the leases of what it runs, hears of requests to
cancel, and takes back what workers of its machine left when they died. The `Resident` starts before the first message
is read, and ends after the last run has ended.
"""

import hashlib
import logging
import os
import re
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from celery import signals
from celery.apps.worker import Worker as CeleryWorker
from django.conf import settings
from django.db import connection
from django.db.models import Q
from django.db.models.functions import Now

from executions import dispatch, lifecycle, notify
from executions.listening import Listener
from executions.models import Execution, RuntimeImage, Worker
from executions.sweep import sweep
from executions.versions import is_version_of
from sandbox.catalogue import catalogue
from sandbox.errors import SandboxError
from sandbox.evaluator import Cancellation, Evaluator

logger = logging.getLogger(__name__)

_BEATS_EVERY_S = 3.0
_SWEEPS_EVERY_S = 5.0
_TIDIES_EVERY_S = 30.0


class Resident:
    """One per worker process. Thread-safe."""

    def __init__(self, evaluator: Evaluator, *, worker: Worker) -> None:
        self.evaluator = evaluator
        self.id = worker.pk
        self.is_draining = False
        self._worker = worker
        self._versions = {language: stamp.version for language, stamp in evaluator.runtimes().items()}
        self._lock = threading.Lock()
        self._running: dict[lifecycle.ClaimId, Cancellation] = {}
        self._stopped = threading.Event()
        # Each in a thread of its own: an engine that hangs while sandboxes are removed must not let leases run out.
        self._keepers = [
            threading.Thread(target=self._keep, args=duty, name=duty[0].__name__, daemon=True)
            for duty in ((self.beat, _BEATS_EVERY_S), (sweep, _SWEEPS_EVERY_S), (self.tidy, _TIDIES_EVERY_S))
        ]
        self._listener = Listener({notify.CANCEL: self._cancel}, on_gap=lambda: None)

    @property
    def languages(self) -> frozenset[str]:
        return frozenset(self._versions)

    def offers(self, language: str, version: str) -> bool:
        """Whether a program that asked for ``version`` (or a prefix of it, or nothing) can be run here."""
        here = self._versions.get(language)
        return here is not None and is_version_of(asked=version, offered=here)

    def start(self) -> None:
        self.register_runtimes()
        self.tidy()
        self._listener.start()
        for keeper in self._keepers:
            keeper.start()

    def drain(self) -> None:
        """Claim nothing more. What runs goes on."""
        self.is_draining = True

    def stop(self) -> None:
        """After the last run: the row says so, and no sandbox is left."""
        self._stopped.set()
        for keeper in self._keepers:
            if keeper.is_alive():
                keeper.join(timeout=10)
        self._listener.stop()
        self.evaluator.close()
        Worker.objects.filter(pk=self.id).update(stopped_at=Now())

    @contextmanager
    def holding(self, claim: Execution) -> Iterator[Cancellation]:
        """Renew the claim's lease, and pass requests to cancel on to it, for as long as the block lasts."""
        cancellation = Cancellation()
        # With the attempt: one that was taken back may still run here when the next has begun.
        held = (claim.pk, claim.attempts)
        with self._lock:
            self._running[held] = cancellation
        try:
            if claim.cancel_requested_at is not None:
                cancellation.cancel()
            yield cancellation
        finally:
            with self._lock:
                del self._running[held]

    # --- The keepers --------------------------------------------------------------------------------------------------

    def _keep(self, duty: Callable[[], None], every_s: float) -> None:
        """A duty that fails is tried again next time; its keeper never ends before the worker."""
        while not self._stopped.wait(every_s):
            try:
                duty()
            except Exception:
                logger.exception("A duty of the worker failed", extra={"worker": self.id})
            finally:
                connection.close()

    def beat(self) -> None:
        """Be seen, renew the leases, and stop what is to be stopped or is no longer ours."""
        Worker.objects.filter(pk=self.id).update(seen_at=Now(), stopped_at=None, pool=self.evaluator.pool_state())
        with self._lock:
            running = dict(self._running)
        if not running:
            return
        for claim in running.keys() - lifecycle.renew(running, worker_id=self.id):
            running[claim].cancel()

    def tidy(self) -> None:
        """Take back what dead workers of this machine ran, remove their sandboxes, and say what can be run here."""
        for other in Worker.objects.filter(realm=self._worker.realm, stopped_at=None).exclude(pk=self.id):
            if not _process_lives(other):
                lifecycle.take_back(Q(worker_id=other.pk))
                Worker.objects.filter(pk=other.pk).update(stopped_at=Now())
        removed = self.evaluator.remove_leftovers(self._is_alive)
        if removed:
            logger.warning("Removed %d sandboxes of workers that are gone.", removed, extra={"worker": self.id})
        self.register_runtimes()

    def register_runtimes(self) -> None:
        for language, stamp in self.evaluator.runtimes().items():
            RuntimeImage.objects.update_or_create(
                language=language,
                version=stamp.version,
                image=stamp.image,
                sandbox=stamp.sandbox,
                sandbox_version=stamp.sandbox_version,
                defaults={"seen_at": Now()},
            )

    def _is_alive(self, label: str) -> bool:
        """Whether whoever made a sandbox still lives. One that we never knew is somebody else's."""
        if (visitor := _VISITOR.fullmatch(label)) is not None:
            realm, pid, started = visitor.groups()
            return realm != _short(self._worker.realm) or _pid_started(int(pid)) == int(started)
        try:
            worker = Worker.objects.filter(pk=uuid.UUID(label)).first()
        except ValueError:
            return True
        if worker is None or worker.pk == self.id:
            return True
        if worker.realm == self._worker.realm:
            # Not `stopped_at`: somebody wrote that, who perhaps only had not heard of it for a while.
            return _process_lives(worker)
        return Worker.objects.filter(pk=worker.pk, stopped_at=None, seen_at__gt=Now() - lifecycle.LEASE).exists()

    def _cancel(self, payload: str) -> None:
        with self._lock:
            meant = [cancellation for (pk, _), cancellation in self._running.items() if str(pk) == payload]
        for cancellation in meant:
            cancellation.cancel()


# --- Processes -------------------------------------------------------------------------------------------------------


def _realm() -> str:
    """Where a pid means something: this boot of this machine, and within it this process namespace."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot} {Path('/proc/self/ns/pid').readlink()}"


def _pid_started(pid: int) -> int | None:
    """When a process began, in ticks since boot; None when there is none. Tells a pid from its re-use."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The second field is the name, in brackets, and may hold anything; what follows it is numbers.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in {"Z", "X"} else int(fields[19])


def _process_lives(worker: Worker) -> bool:
    return _pid_started(worker.pid) == worker.pid_started


# What makes sandboxes and has no row: its name in the engine says where and which process it is.
_VISITOR = re.compile(r"[a-z]+-([0-9a-f]{16})-(\d{1,10})-(\d{1,20})")


def name_visitor(kind: str) -> str:
    """The name of this process as a visitor to the engine, such as a `doctor`: workers tell by it when it is gone."""
    return f"{kind}-{_short(_realm())}-{os.getpid()}-{_pid_started(os.getpid())}"


def _short(realm: str) -> str:
    return hashlib.sha256(realm.encode()).hexdigest()[:16]


# --- Celery's signals ------------------------------------------------------------------------------------------------

_resident: Resident | None = None


def resident() -> Resident:
    """The resident of this process. Only a worker has one."""
    if _resident is None:
        raise RuntimeError("This process is not a worker.")
    return _resident


def start_resident(*, concurrency: int) -> Resident:
    """Make this process a worker. Raises `SandboxError` when programs could not be run here as they must be."""
    global _resident  # noqa: PLW0603  one per process, by its nature
    pid_started = _pid_started(os.getpid())
    assert pid_started is not None
    worker = Worker.objects.create(
        host=socket.gethostname(), realm=_realm(), pid=os.getpid(), pid_started=pid_started, concurrency=concurrency
    )
    try:
        evaluator = connect(worker=str(worker.pk), concurrency=concurrency)
    except SandboxError:
        worker.delete()
        raise
    _resident = Resident(evaluator, worker=worker)
    _resident.start()
    return _resident


def connect(*, worker: str, concurrency: int) -> Evaluator:
    """The evaluator of this machine."""
    # Here and not above: web processes import this module, and must not even load the Docker client.
    from sandbox.connect import connect_evaluator  # noqa: PLC0415

    return connect_evaluator(
        worker=worker,
        concurrency=concurrency,
        insecure_runtime=settings.CODEFORGE_INSECURE_RUNTIME,
        pool_size=settings.CODEFORGE_POOL_SIZE,
        pool_memory_mb=settings.CODEFORGE_POOL_MEMORY_MB,
    )


@signals.celeryd_after_setup.connect
def _start(instance: CeleryWorker, **kwargs: object) -> None:
    """Before the first message is read. A worker that cannot isolate programs does not start."""
    try:
        started = start_resident(concurrency=instance.concurrency)  # type: ignore[attr-defined]  # set when it is made
    except SandboxError as error:
        raise SystemExit(f"The worker does not start: {error.code}: {error}. `manage.py doctor` says more.") from None
    except Exception as error:
        # Celery would only log it, and go on with a worker that fails whatever it is given.
        logger.exception("The worker does not start")
        raise SystemExit(1) from error
    missing = [language for language in catalogue() if language not in started.languages]
    if missing:
        logger.warning("No runtime here for %s: left to other workers.", ", ".join(missing))
        instance.app.amqp.queues.deselect([dispatch.queue_of(language) for language in missing])
    connection.close()


@signals.worker_shutting_down.connect
def _drain(**kwargs: object) -> None:
    if _resident is not None:
        _resident.drain()


@signals.worker_shutdown.connect
def _stop(**kwargs: object) -> None:
    if _resident is not None:
        _resident.stop()
