"""What is run: a program, its input, and the limits that hold for it. Plain data, checked by whoever made it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one run. Times are milliseconds, memory and disk MiB, output bytes per stream."""

    wall_time_ms: int = 10_000
    cpu_time_ms: int = 5_000
    compile_time_ms: int = 30_000
    memory_mb: int = 256
    processes: int = 64  # processes and threads together
    output_bytes: int = 1 << 20  # each of stdout and stderr
    disk_mb: int = 64


@dataclass(frozen=True, slots=True)
class File:
    """A file that lies in the working directory. ``path`` is relative, has no ``..`` and no empty part."""

    path: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Program:
    """The program text and what it is compiled with. ``options`` as the runtime declares them."""

    language: str
    source: str
    files: tuple[File, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)


class Isolation(StrEnum):
    """What a sandbox may have run before: nothing at all, or only programs of the same account."""

    EXECUTION = "execution"
    ACCOUNT = "account"


@dataclass(frozen=True, slots=True)
class Test:
    """One of several runs of a program that is compiled once. ``limits`` None: the job's."""

    stdin: bytes = b""
    args: tuple[str, ...] = ()
    limits: Limits | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """One program to compile, and to run once with ``stdin`` and ``args``, or once for each of ``tests``.

    ``account`` says whose program it is: no sandbox ever runs programs of two accounts.
    """

    program: Program
    stdin: bytes = b""
    args: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    account: str = ""
    isolation: Isolation = Isolation.EXECUTION
    tests: tuple[Test, ...] = ()
    stops_early: bool = False  # the judge may end it before all tests have run
    alone: bool = False  # while nothing else runs on this worker

    @property
    def runs(self) -> tuple[Test, ...]:
        return self.tests or (Test(self.stdin, self.args),)

    @property
    def largest_limits(self) -> Limits:
        """For each limit the largest that any run of this job has: what a sandbox must have room for."""
        every = [self.limits, *(test.limits for test in self.tests if test.limits)]
        return Limits(**{name: max(getattr(limits, name) for limits in every) for name in Limits.__slots__})
