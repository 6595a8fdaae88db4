"""What is run: a program, its input, and the limits that hold for it. Plain data, checked by whoever made it."""

from collections.abc import Mapping
from dataclasses import dataclass, field


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


@dataclass(frozen=True, slots=True)
class Job:
    """One program to compile and run once. ``account`` and ``execution`` are opaque labels for the sandbox."""

    program: Program
    stdin: bytes = b""
    args: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    account: str = ""
    execution: str = ""
