"""What the person at the terminal sees: one line a step, with the seconds it took."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Trouble(Exception):
    """Something that stops the set-up. The message says what to do about it."""


def say(text: str = "") -> None:
    print(text, flush=True)


def warn(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@contextmanager
def step(name: str) -> Iterator[None]:
    """Print `name … 3.1 s`, and a sign of life every ten seconds in between."""
    began = time.monotonic()
    over = threading.Event()

    def show_life() -> None:
        while not over.wait(10):
            print(f" {time.monotonic() - began:.0f} s …", end="", flush=True)

    print(f"  {name} …", end="", flush=True)
    life = threading.Thread(target=show_life, daemon=True)
    life.start()
    outcome = "failed after"
    try:
        yield
        outcome = "done in"
    except KeyboardInterrupt:
        outcome = "interrupted after"
        raise
    finally:
        over.set()
        life.join()
        say(f" {outcome} {time.monotonic() - began:.1f} s")
