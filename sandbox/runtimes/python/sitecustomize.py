"""Finds a syntax error of the program before it runs, and says so to the supervisor over descriptor 3.

Only the first process of a cell has that descriptor, and it is closed here, before the program's first line: nothing
that the program does can be taken for a syntax error, and a syntax error is never taken for something that it did.
"""

import os
import stat
import sys
import warnings


def _check(path: str) -> None:
    try:
        # Python warns again, for all to see, when it compiles the same text below.
        with open(path, "rb") as source, warnings.catch_warnings(action="ignore"):
            compile(source.read(), path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        # ValueError: a NUL in the source. Python's own words go to stderr when it finds the same error below.
        os.write(3, b"F")
    except (MemoryError, RecursionError, OverflowError):
        # The parser's own limits; the program would end with them, too.
        os.write(3, b"F")
    else:
        os.write(3, b"P")


def _is_ours(descriptor: int) -> bool:
    """A pipe that belongs to root, which no pipe of the program's own does."""
    try:
        seen = os.fstat(descriptor)
    except OSError:
        return False
    return stat.S_ISFIFO(seen.st_mode) and seen.st_uid == 0


# The cell's init is process 1, the program process 2: a Python that the program starts does not come by here, and one
# that takes the program's place (exec) finds the descriptor closed.
if os.getpid() == 2 and _is_ours(3):
    try:
        _check(sys.orig_argv[3])
    finally:
        os.close(3)
