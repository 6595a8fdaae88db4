"""The worker's side of the frames that supervisor/frame.h defines.

Everything that comes in was written inside a sandbox: sizes are bounded before they are believed, and a report that is
not exactly as it must be is `ProtocolViolated`.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum

from sandbox.errors import ProtocolViolated

FRAME_HEAD = struct.Struct(">cI")
CHUNK_MAX = 65_536  # what the supervisor puts into one frame of program output
TEXT_MAX = 4_096  # a hello, a report or a failure
ARTEFACT_MAX = 16 << 20


class FrameType(bytes, Enum):
    PING = b"P"
    RESET = b"R"
    FILE = b"F"
    EXPORT = b"G"
    STDIN = b"I"
    CELL = b"C"
    STOP = b"K"
    HELLO = b"H"
    PONG = b"Q"
    ARTEFACT = b"A"
    EXPORTED = b"Z"
    STDOUT = b"O"
    STDERR = b"E"
    ENDED = b"D"
    FAILED = b"X"


_LONGEST = {
    FrameType.HELLO: TEXT_MAX,
    FrameType.PONG: 0,
    FrameType.ARTEFACT: ARTEFACT_MAX,
    FrameType.EXPORTED: TEXT_MAX,
    FrameType.STDOUT: CHUNK_MAX,
    FrameType.STDERR: CHUNK_MAX,
    FrameType.ENDED: TEXT_MAX,
    FrameType.FAILED: TEXT_MAX,
}


class StoppedFor(StrEnum):
    """Why the supervisor ended a cell."""

    NONE = "none"
    WALL = "wall"
    CPU = "cpu"
    MEMORY = "memory"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class CellOrder:
    """One cell to run, see supervisor/cell.h. Milliseconds, KiB, bytes."""

    compile: bool
    check: bool
    uid: int
    wall_ms: int
    cpu_ms: int
    memory_kb: int
    processes: int
    output_bytes: int
    disk_kb: int
    stack_kb: int
    argv: Sequence[str]
    environment: Mapping[str, str]

    def encode(self) -> bytes:
        numbers = (
            int(self.compile), int(self.check), self.uid, self.wall_ms, self.cpu_ms, self.memory_kb, self.processes,
            self.output_bytes, self.disk_kb, self.stack_kb,
        )  # fmt: skip
        environment = [f"{name}={value}" for name, value in self.environment.items()]
        fields = [*map(str, numbers), str(len(self.argv)), *self.argv, str(len(environment)), *environment]
        if any("\0" in field for field in fields):
            raise ValueError("a field of a cell order holds NUL")
        return b"".join(field.encode() + b"\0" for field in fields)


@dataclass(frozen=True, slots=True)
class CellReport:
    """How a cell ended, as the supervisor saw it. ``exit_code`` and ``signal`` are None when there was none."""

    stopped_for: StoppedFor
    exit_code: int | None
    signal: int | None
    wall_us: int
    cpu_us: int
    memory_kb: int
    stdout_bytes: int
    stderr_bytes: int
    check: str
    heap_exhausted: bool
    dirty: bool

    @classmethod
    def parse(cls, payload: bytes) -> "CellReport":
        fields = parse_lines(payload)
        try:
            report = cls(
                stopped_for=StoppedFor(fields.pop("stopped_for")),
                exit_code=None if fields["exit_code"] == "-1" else _bounded(fields["exit_code"], 0, 255),
                signal=_bounded(fields.pop("signal"), 0, 64) or None,
                wall_us=_bounded(fields.pop("wall_us")),
                cpu_us=_bounded(fields.pop("cpu_us")),
                memory_kb=_bounded(fields.pop("memory_kb")),
                stdout_bytes=_bounded(fields.pop("stdout_bytes")),
                stderr_bytes=_bounded(fields.pop("stderr_bytes")),
                check=fields.pop("check"),
                heap_exhausted=bool(_bounded(fields.pop("heap_exhausted"), 0, 1)),
                dirty=bool(_bounded(fields.pop("dirty"), 0, 1)),
            )
        except (KeyError, ValueError) as error:
            raise ProtocolViolated(f"a report that cannot be read: {error!r}") from error
        del fields["exit_code"]
        if fields or report.check not in ("none", "silent", "passed", "failed"):
            raise ProtocolViolated("a report with something else in it")
        return report


def _bounded(text: str, least: int = 0, most: int = 1 << 53) -> int:
    value = int(text)
    if not least <= value <= most:
        raise ValueError(f"{value} is out of bounds")
    return value


def parse_lines(payload: bytes) -> dict[str, str]:
    """``key value`` lines → a dict. Raises `ProtocolViolated` on anything else."""
    try:
        lines = payload.decode().splitlines()
        fields: dict[str, str] = dict(line.split(" ", 1) for line in lines)
    except ValueError as error:
        raise ProtocolViolated("a text frame that is not lines of key and value") from error
    if len(fields) != len(lines):
        raise ProtocolViolated("a key twice in a text frame")
    return fields


def encode_frame(kind: FrameType, *parts: bytes) -> bytes:
    return FRAME_HEAD.pack(kind.value, sum(map(len, parts))) + b"".join(parts)


class FrameReader:
    """Bytes in, frames out. Holds at most one incomplete frame."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterable[tuple[FrameType, bytes]]:
        """All frames that are complete now. Raises `ProtocolViolated` on an unknown type or too great a length."""
        self._buffer += data
        start = 0
        try:
            while len(self._buffer) - start >= FRAME_HEAD.size:
                letter, length = FRAME_HEAD.unpack_from(self._buffer, start)
                try:
                    kind = FrameType(letter)
                    longest = _LONGEST[kind]
                except (ValueError, KeyError) as error:
                    raise ProtocolViolated(f"a frame of type {letter!r}") from error
                if length > longest:
                    raise ProtocolViolated(f"a frame of {length} bytes")
                end = start + FRAME_HEAD.size + length
                if len(self._buffer) < end:
                    break
                payload = bytes(self._buffer[start + FRAME_HEAD.size : end])
                start = end
                yield kind, payload
        finally:
            del self._buffer[:start]
