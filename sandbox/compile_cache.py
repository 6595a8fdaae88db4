"""What compilers made, kept by what they made it from, so that the same program of an account is compiled once.

Only outputs are held: the bytes of the files and what the compiler said. They are never written to the host's disk and
never unpacked there. Accounts do not share: how long a compile takes would tell one what another has compiled.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from sandbox.job import Program
from sandbox.result import Compilation
from sandbox.verdict import Limit, Verdict


@dataclass(frozen=True, slots=True)
class Artefact:
    """A file of the staging directory. ``mode`` holds permission bits."""

    path: str
    content: bytes
    mode: int = 0o644


@dataclass(frozen=True, slots=True)
class Compiled:
    """The outcome of a compile step. ``cpu_time_ms`` and ``memory_kb``: what it took."""

    verdict: Verdict
    limit_exceeded: Limit | None
    compilation: Compilation
    cpu_time_ms: int = 0
    memory_kb: int = 0
    artefacts: tuple[Artefact, ...] = ()

    def fits(self, *, cpu_time_ms: int, memory_kb: int) -> bool:
        """Whether it would have come out the same under these limits."""
        return self.cpu_time_ms <= cpu_time_ms and self.memory_kb <= memory_kb

    @property
    def size(self) -> int:
        """Bytes, about."""
        streams = len(self.compilation.stdout.content) + len(self.compilation.stderr.content)
        return streams + sum(len(artefact.content) + len(artefact.path) for artefact in self.artefacts) + 1_000


def cache_key(account: str, image: str, argv: Sequence[str], program: Program) -> bytes:
    """Everything that the output of a compiler depends on, and whose it is."""
    parts = [account, image, *argv, program.source]
    digest = hashlib.sha256()
    for part in [*(text.encode() for text in parts), *(p for f in program.files for p in (f.path.encode(), f.content))]:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()


class CompileCache:
    """Bounded by size, least recently used goes first. Thread-safe."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._entries: OrderedDict[bytes, Compiled] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: bytes) -> Compiled | None:
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                self._entries.move_to_end(key)
            return found

    def put(self, key: bytes, compiled: Compiled) -> None:
        if compiled.size > self._max_bytes // 4:
            return  # one program would push out everybody else's
        with self._lock:
            previous = self._entries.pop(key, None)
            self._bytes += compiled.size - (previous.size if previous else 0)
            self._entries[key] = compiled
            while self._bytes > self._max_bytes:
                _, oldest = self._entries.popitem(last=False)
                self._bytes -= oldest.size
