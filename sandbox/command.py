"""Puts a program's names, limits and options into the commands of its runtime."""

from collections.abc import Mapping, Sequence

from sandbox.catalogue import Runtime
from sandbox.job import Limits, Program
from sandbox.naming import SourceName


def fill(argv: Sequence[str], runtime: Runtime, program: Program, name: SourceName, limits: Limits) -> list[str]:
    """``{source}``, ``{main}``, ``{memory_mb}`` and the names of options in ``argv`` become their values.

    An option that the program does not set has its default. Raises `KeyError` for a value that is not offered.
    """
    words = {
        "source": name.file,
        "main": name.main,
        "memory_mb": str(limits.memory_mb),
        **{
            option: declared.values[program.options.get(option, declared.default)]
            for option, declared in runtime.options.items()
        },
    }
    return [_fill_word(part, words) for part in argv]


def _fill_word(part: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        part = part.replace("{" + word + "}", value)
    return part
