"""Long-lived processes: started in a session of their own, remembered by pid *and* start time, stopped politely.

A pid alone is not enough: after a reboot, or a long time, the number may belong to somebody else's process.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dev.console import Trouble
from dev.paths import LOG, ROOT, RUN


def start_time(pid: int) -> str | None:
    """The clock tick at which `pid` started; None when it is gone or a zombie (nobody may have reaped it yet)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The second field is the command's name in brackets and may hold anything, brackets and spaces included.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[19]


def reap(pid: int) -> None:
    """Collect `pid` if it is our own child, so that it does not look alive as a zombie."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


@dataclass(frozen=True)
class Daemon:
    name: str

    @property
    def pid_file(self) -> Path:
        return RUN / f"{self.name}.pid"

    @property
    def log_file(self) -> Path:
        return LOG / f"{self.name}.log"

    def pid(self) -> int | None:
        """Its pid while it runs."""
        try:
            number, _, started = self.pid_file.read_text().partition(" ")
        except OSError:
            return None
        return int(number) if started and start_time(int(number)) == started else None

    def record(self, pid: int) -> None:
        temporary = self.pid_file.with_suffix(".new")
        temporary.write_text(f"{pid} {start_time(pid) or ''}")
        temporary.rename(self.pid_file)

    def start(
        self,
        argv: Sequence[str | Path],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path = ROOT,
        stdin: str = "",
    ) -> int:
        if self.log_file.exists() and self.log_file.stat().st_size > 4 << 20:
            self.log_file.rename(self.log_file.with_suffix(".log.1"))
        with self.log_file.open("ab") as log:
            process = subprocess.Popen(
                argv,
                env=env,
                cwd=cwd,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.record(process.pid)
        assert process.stdin
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(stdin.encode())
            process.stdin.close()
        return process.pid

    def wait_ready(self, ready: Callable[[], bool], timeout_s: float) -> None:
        """Return when `ready()` holds; say why not when the process ends or the time is up."""
        deadline = time.monotonic() + timeout_s
        while not ready():
            pid = self.pid()
            if pid is not None:
                reap(pid)
            if self.pid() is None:
                raise Trouble(f"{self.name} ended while starting. Its last words ({self.log_file}):\n{self.tail()}")
            if time.monotonic() > deadline:
                raise Trouble(f"{self.name} is not ready after {timeout_s:.0f} s; look into {self.log_file}")
            time.sleep(0.05)

    def stop(self, sig: signal.Signals = signal.SIGTERM, *, timeout_s: float = 10) -> None:
        """Send `sig`, wait, and kill its whole session if it is still there when the time is up."""
        pid = self.pid()
        if pid is not None:
            os.kill(pid, sig)
            deadline = time.monotonic() + timeout_s
            while self.pid() is not None and time.monotonic() < deadline:
                reap(pid)
                time.sleep(0.02)
            if self.pid() is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
                    while self.pid() is not None:
                        reap(pid)
                        time.sleep(0.02)
        self.pid_file.unlink(missing_ok=True)

    def tail(self, lines: int = 12) -> str:
        try:
            text = self.log_file.read_text(errors="replace")
        except OSError:
            return "    (nothing)"
        return "\n".join("    " + line for line in text.splitlines()[-lines:])
