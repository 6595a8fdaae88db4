# Raises Python's own limit and recurses for ever: frames lie on the heap. Memory must stop it.
import sys

sys.setrecursionlimit(1 << 30)


def f():
    f()


f()
