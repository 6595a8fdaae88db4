"""Is the output the expected one? Pure, on bytes: what a program printed need not be text.

Everything is compared here, in the worker, on the whole stream; nothing inside the sandbox knows what is expected.
"""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

# What C's isspace() takes for white space, and bytes.split() too.
_WHITE = b" \t\n\r\v\f"


def matches(*, actual: bytes, expected: bytes, checker: Mapping[str, Any]) -> bool:
    """Whether ``actual`` is right by the checker ``{"type": …}`` (``float`` also has ``tolerance``)."""
    compare: Mapping[str, Callable[[], bool]] = {
        "exact": lambda: actual == expected,
        "trimmed": lambda: _trimmed(actual) == _trimmed(expected),
        "tokens": lambda: actual.split() == expected.split(),
        "float": lambda: _close(actual, expected, Decimal(str(checker["tolerance"]))),
    }
    return compare[checker["type"]]()


def _trimmed(text: bytes) -> bytes:
    """Without the white space at the end of each line and without empty lines at the end."""
    return b"\n".join(line.rstrip(_WHITE) for line in text.split(b"\n")).rstrip(_WHITE)


def _close(actual: bytes, expected: bytes, tolerance: Decimal) -> bool:
    """Token by token: numbers differ by at most the tolerance, absolutely or relative to the expected one.

    What is no number, `nan` and `inf` with it, must be equal to the byte, whatever its case.
    """
    left, right = actual.split(), expected.split()
    return len(left) == len(right) and all(_tokens_close(*pair, tolerance) for pair in zip(left, right, strict=True))


def _tokens_close(actual: bytes, expected: bytes, tolerance: Decimal) -> bool:
    if actual == expected:
        return True
    numbers = list(_numbers(actual, expected))
    if len(numbers) < 2:
        return actual.lower() == expected.lower()
    try:
        difference = abs(numbers[0] - numbers[1])
        return difference <= tolerance or difference <= tolerance * abs(numbers[1])
    except ArithmeticError:
        # Exponents so large that even decimals give up: not close, and no reason to fail.
        return False


def _numbers(*tokens: bytes) -> Iterator[Decimal]:
    for token in tokens:
        # A program may print a million digits: a token that long is compared as text.
        if len(token) > 400 or b"_" in token:
            continue
        try:
            number = Decimal(token.decode("ascii"))
        except (InvalidOperation, UnicodeDecodeError):
            continue
        if number.is_finite():
            yield number
