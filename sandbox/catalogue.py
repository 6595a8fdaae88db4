"""The languages that are offered, read from ``runtimes/<language>/runtime.toml``. A new language is a folder there."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

RUNTIMES = Path(__file__).parent / "runtimes"


@dataclass(frozen=True, slots=True)
class Option:
    """A choice that a customer may make, e.g. C++ ``standard``. ``values`` maps each allowed value to its argument."""

    values: Mapping[str, str]
    default: str


@dataclass(frozen=True, slots=True)
class Step:
    """A command to run in a cell. ``argv`` may hold ``{source}``, ``{main}``, ``{memory_mb}`` and option names."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Runtime:
    """One language: how its programs are named, compiled and run.

    source_name         how the source file gets its name, see `sandbox.naming`
    compile             None for an interpreted language
    checks_syntax       its start-up says over descriptor 3 whether the syntax is right, before the program runs
    reports_heap        it leaves a file in the report folder when its heap, capped at the memory limit, is full
    stack_is_memory     the stack may grow to the memory limit; else it has 8 MiB
    memory_overhead_mb  what the language itself needs, added to the program's limit so that the program gets it whole
    compile_memory_mb   the least that the compile step is given
    """

    language: str
    title: str
    folder: Path
    source_name: str
    version_argv: tuple[str, ...]
    run: Step
    compile: Step | None
    checks_syntax: bool
    reports_heap: bool
    stack_is_memory: bool
    options: Mapping[str, Option]
    memory_overhead_mb: int
    compile_memory_mb: int


@cache
def catalogue() -> dict[str, Runtime]:
    """All runtimes by language, in the order of their names."""
    return {folder.name: _read(folder) for folder in sorted(RUNTIMES.iterdir()) if (folder / "runtime.toml").exists()}


def _read(folder: Path) -> Runtime:
    data = tomllib.loads((folder / "runtime.toml").read_text())
    shared: dict[str, str] = data["environment"]

    def step(name: str) -> Step:
        return Step(tuple(data[name]["argv"]), {**shared, **data[name].get("environment", {})})

    return Runtime(
        language=folder.name,
        title=data["title"],
        folder=folder,
        source_name=data["source_name"],
        version_argv=tuple(data["version_argv"]),
        run=step("run"),
        compile=step("compile") if "compile" in data else None,
        checks_syntax=data["run"].get("checks_syntax", False),
        reports_heap=data["run"].get("reports_heap", False),
        stack_is_memory=data["run"].get("stack_is_memory", False),
        options={name: Option(option["values"], option["default"]) for name, option in data.get("options", {}).items()},
        memory_overhead_mb=data["memory_overhead_mb"],
        compile_memory_mb=data.get("compile", {}).get("memory_mb", 0),
    )
