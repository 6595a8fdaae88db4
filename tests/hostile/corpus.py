"""The corpus: one attack per file in programs/, and in expected.toml what must come of each."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sandbox.job import File, Isolation, Job, Limits, Program
from sandbox.result import Result

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
EXPECTED = HERE / "expected.toml"
LANGUAGES = {".py": "python", ".js": "javascript", ".java": "java", ".cpp": "cpp"}


@dataclass(frozen=True)
class Attack:
    """One program, its limits, and what must come of it. The fields are explained in expected.toml."""

    name: str
    limits: Limits
    outcomes: Sequence[str]
    why: str = ""
    exit: int | None = None
    signal: str | None = None
    stdout: bytes | None = None
    stdout_has: bytes = b""
    lacks: Sequence[bytes] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def language(self) -> str:
        return LANGUAGES[Path(self.name).suffix]

    @property
    def source(self) -> str:
        return (PROGRAMS / self.name).read_text()

    def job(self, account: str, isolation: Isolation) -> Job:
        files = tuple(File(path, content.encode()) for path, content in self.files.items())
        program = Program(self.language, self.source, files)
        return Job(program, limits=self.limits, account=account, isolation=isolation)

    def faults_of(self, result: Result) -> list[str]:
        """In what the result is not as it must be."""
        outcome = " ".join(filter(None, (result.verdict, result.phase, result.limit_exceeded)))
        compilation = result.compilation
        streams = [result.stdout, result.stderr, *((compilation.stdout, compilation.stderr) if compilation else ())]
        faults = []
        if outcome not in self.outcomes:
            faults.append(f"{outcome}, not {' or '.join(self.outcomes)}")
        if self.exit is not None and result.exit_code != self.exit:
            faults.append(f"exit code {result.exit_code}, not {self.exit}")
        if self.signal is not None and result.signal != self.signal:
            faults.append(f"signal {result.signal}, not {self.signal}")
        if self.stdout is not None and result.stdout.content != self.stdout:
            faults.append(f"stdout {result.stdout.content[:200]!r}, not {self.stdout[:200]!r}")
        if self.stdout_has not in result.stdout.content:
            faults.append(f"stdout {result.stdout.content[:200]!r} without {self.stdout_has!r}")
        faults += [f"{part!r} shows" for part in self.lacks for stream in streams if part in stream.content]
        if any(len(stream.content) > max(self.limits.output_bytes, 256 << 10) for stream in streams):
            faults.append("more output than there may be")
        return faults


def attacks() -> list[Attack]:
    """All rows of the table, in its order."""
    table = tomllib.loads(EXPECTED.read_text())
    base = Limits(**table["limits"])
    return [_attack(name, base, row) for name, row in table["programs"].items()]


def _attack(name: str, base: Limits, row: dict[str, Any]) -> Attack:
    row = dict(row)
    outcomes = row.pop("is")
    stdout: bytes | None = row.pop("stdout").encode() if "stdout" in row else None
    if "stdout_hex" in row:
        stdout = bytes.fromhex(row.pop("stdout_hex"))
    return Attack(
        name,
        limits=replace(base, **row.pop("limits", {})),
        outcomes=[outcomes] if isinstance(outcomes, str) else outcomes,
        stdout=stdout,
        stdout_has=row.pop("stdout_has", "").encode(),
        lacks=[part.encode() for part in row.pop("lacks", [])],
        **row,
    )
