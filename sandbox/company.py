"""Who else runs: most jobs in company, one that needs it alone."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox.errors import RunCancelled

# A machine whose cores were less than this idle, on average, kept some program waiting.
_CROWDED_IDLE_SHARE = 0.1
# Of a worker's time, at most one part in so many goes to jobs that run alone, so that nobody can make all others wait.
_SHARE_ALONE = 4


class Company:
    """Any number of jobs at once, or a single one that is alone. Who wants to be alone is next: nobody overtakes it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._present = 0
        self._wanting = 0
        self._alone = False
        self._next_alone = time.monotonic()

    def reserve_alone(self, seconds: float) -> bool:
        """Ask for a stay of about so long alone. False when the others have waited enough of late."""
        with self._changed:
            now = time.monotonic()
            if now < self._next_alone:
                return False
            self._next_alone = now + _SHARE_ALONE * seconds
            return True

    @contextmanager
    def joined(self, *, alone: bool, gives_up: Callable[[], bool]) -> Iterator["Stay"]:
        """Wait until the job may run, then run it in the block. `RunCancelled` when it ``gives_up``, see `wake`."""
        with self._changed:
            self._wanting += alone
            try:
                self._changed.wait_for(lambda: gives_up() or self._may_join(alone=alone))
            finally:
                self._wanting -= alone
                self._changed.notify_all()
            if gives_up():
                raise RunCancelled
            self._alone = alone
            self._present += 1
        try:
            yield Stay()
        finally:
            with self._changed:
                self._present -= 1
                self._alone = self._alone and not alone
                self._changed.notify_all()

    def wake(self) -> None:
        """Have those who wait look again whether they give up."""
        with self._changed:
            self._changed.notify_all()

    def _may_join(self, *, alone: bool) -> bool:
        if alone:
            return self._present == 0
        return not self._alone and self._wanting == 0


class Stay:
    """One job's time here."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._idle_before_s = idle_s()

    @property
    def was_crowded(self) -> bool:
        """Whether the machine had no core to spare since the job began."""
        cores_s = (time.monotonic() - self._began) * (os.cpu_count() or 1)
        return idle_s() - self._idle_before_s < _CROWDED_IDLE_SHARE * cores_s


def idle_s() -> float:
    """Seconds that the cores of this machine have been idle since it started, added up."""
    fields = Path("/proc/stat").read_text(encoding="ascii").partition("\n")[0].split()
    return (int(fields[4]) + int(fields[5])) / os.sysconf("SC_CLK_TCK")
