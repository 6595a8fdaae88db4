"""Function-style benchmarks: how a program is put together of prompt, completion and test, and what passing means.

Exit code 0 is no proof: a candidate may call `exit(0)` before the tests have run. So the program's last act is to copy
its standard input, a secret that is new in each run, to standard error. It comes after everything that the test does,
and whatever ends the program before leaves the secret out. A candidate that goes to the length of reading its input
and writing it there could still lie about itself: code that is judged by code in its own process always could.
"""

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass

VERSION = "1"

# What the proof must be: with nothing else on stderr, where a failed assertion does not fail the program.
ENDS = "ends"
ENDS_QUIETLY = "quietly"


class CannotAssemble(Exception):
    """Says what is wrong with the test, for whoever sent it."""


@dataclass(frozen=True, slots=True)
class Parts:
    prompt: str
    completion: str
    test: str
    entry_point: str


@dataclass(frozen=True, slots=True)
class Preset:
    """``languages``: those it is for. ``assemble`` gives the program without the proof."""

    languages: frozenset[str]
    assemble: Callable[[str, Parts], str]
    needs_entry_point: bool = False


def new_secret() -> bytes:
    return secrets.token_hex(16).encode() + b"\n"


def fault_of_proof(proof: str, *, secret: bytes, stderr: bytes) -> str | None:
    """Why a program that exited with 0 has not passed; None when it has."""
    # Anywhere, not at the end: an interpreter may have something to say when it shuts down.
    if secret.strip() not in stderr:
        return "incomplete"
    if proof == ENDS_QUIETLY and stderr.replace(secret.strip(), b"", 1).strip():
        return "complained"
    return None


def proof_of(preset: str, language: str) -> str:
    """`console.assert` only complains, so that JavaScript must not write anything to stderr."""
    return ENDS_QUIETLY if language == "javascript" and preset == "humaneval-x" else ENDS


def options_of(preset: str, language: str) -> dict[str, str]:
    """What the benchmark was made for, where that is not our default."""
    return {"standard": "c++17"} if language == "cpp" and preset in {"humaneval-x", "multipl-e"} else {}


def assemble(preset: str, language: str, parts: Parts) -> str:
    """The whole program. Raises `CannotAssemble`."""
    return _PROVES[language](PRESETS[preset].assemble(language, parts))


# --- The program, by preset ------------------------------------------------------------------------------------------

# HumanEval-X puts these above every program, so that a solution may use them without a word.
_PYTHON_IMPORTS = """import math, re, sys, copy, datetime, itertools, collections, heapq
import statistics, functools, hashlib, string
from typing import *
from collections import *
"""
_CPP_INCLUDES = ("stdlib.h", "algorithm", "math.h", "stdio.h", "vector", "string", "climits", "cstring", "iostream")
_ABOVE: Mapping[str, str] = {
    "python": _PYTHON_IMPORTS,
    "cpp": "".join(f"#include<{name}>\n" for name in _CPP_INCLUDES),
}


def _humaneval(language: str, parts: Parts) -> str:
    return f"{parts.prompt}{parts.completion}\n{parts.test}\ncheck({parts.entry_point})\n"


def _humaneval_x(language: str, parts: Parts) -> str:
    return f"{_ABOVE.get(language, '')}{parts.prompt}{parts.completion}\n{parts.test}\n"


def _in_order(language: str, parts: Parts) -> str:
    return f"{parts.prompt}{parts.completion}\n{parts.test}\n"


_ALL = frozenset({"python", "javascript", "java", "cpp"})
PRESETS: Mapping[str, Preset] = {
    "humaneval": Preset(frozenset({"python"}), _humaneval, needs_entry_point=True),
    "humaneval-x": Preset(_ALL, _humaneval_x),
    "mbpp": Preset(frozenset({"python"}), _in_order),
    "multipl-e": Preset(_ALL, _in_order),
    "plain": Preset(_ALL, _in_order),
}

# --- The proof, by language ------------------------------------------------------------------------------------------

_PYTHON = "\n__import__('sys').stderr.flush(); __import__('os').write(2, __import__('os').read(0, 64))\n"
_JAVASCRIPT = "\n;require('fs').writeSync(2, require('fs').readFileSync(0));\n"
_JAVA = (
    "try { System.err.write(System.in.readAllBytes()); System.err.flush(); } "
    "catch (java.io.IOException codeforgeFault) { throw new RuntimeException(codeforgeFault); }"
)
_CPP = "{ char codeforge_proof[64]; fwrite(codeforge_proof, 1, fread(codeforge_proof, 1, 64, stdin), stderr); }"


def _after(proof: str) -> Callable[[str], str]:
    return lambda program: program + proof


# The end of `main`, which the tests of these languages end with: perhaps a `return 0;`, then one closing brace, in Java
# a second one for the class; nothing but comments and white space afterwards.
_END_OF_CPP = re.compile(r"(?P<end>(?:return\s+0\s*;\s*)?\}\s*)\Z")
_END_OF_JAVA = re.compile(r"(?P<end>(?:return\s*;\s*)?\}\s*\}\s*)\Z")


def _before(end: re.Pattern[str], proof: str, *, above: str = "") -> Callable[[str], str]:
    def prove(program: str) -> str:
        # From the back, and not over the whole text: the pattern is anchored at its end.
        tail = program[-2_000:]
        found = end.search(tail)
        if found is None:
            raise CannotAssemble("The test must end with the end of its main function.")
        at = len(program) - len(tail) + found.start("end")
        return above + program[:at] + proof + "\n" + program[at:]

    return prove


_PROVES: Mapping[str, Callable[[str], str]] = {
    "python": _after(_PYTHON),
    "javascript": _after(_JAVASCRIPT),
    "java": _before(_END_OF_JAVA, _JAVA),
    "cpp": _before(_END_OF_CPP, _CPP, above="#include <cstdio>\n"),
}
