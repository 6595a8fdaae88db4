"""What can go wrong.

CodeForgeError
├── Refused    the server has said no, and why: ``code``, ``status``, ``problem``
└── NoAnswer   it could not be reached, or did not answer, however often it was asked
"""

from __future__ import annotations

from typing import Any, Mapping


class CodeForgeError(Exception):
    """Everything that this package raises by itself."""


class Refused(CodeForgeError):
    """An answer of 400 or more. ``problem`` is its body (RFC 9457)."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.problem = dict(problem)
        self.code = str(problem.get("code", "unknown"))
        faults = "".join(f"\n  {fault['field']}: {fault['message']}" for fault in problem.get("errors", ()))
        super().__init__(f"{status} {self.code}: {problem.get('detail', '')}{faults}")


class NoAnswer(CodeForgeError):
    """The last try's error is the cause."""
