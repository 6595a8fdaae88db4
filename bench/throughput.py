"""Many programs at once: how many a machine does in a second."""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.api import Api
from bench.measure import Table
from bench.rivals import Naive

CLIENTS = 8
RUNS = 48


def measure(table: Table, *, rounds: int) -> None:
    table.section(f"Throughput of short Python programs, {CLIENTS} at once")
    naive = Naive()
    ways: dict[str, Sequence[Callable[[], None]]] = {
        "naive": [naive.run] * CLIENTS,
        "fresh": [Api().run for _ in range(CLIENTS)],
        "account": [Api("account").run for _ in range(CLIENTS)],
    }
    rates: dict[str, list[float]] = {name: [] for name in ways}
    cpu: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, callers in ways.items():
            runs = RUNS * 3 if name == "account" else RUNS
            _drive(callers, CLIENTS)  # warm up what this way has
            busy_before, began = _busy_s(), time.perf_counter()
            _drive(callers, runs)
            rates[name].append(runs / (time.perf_counter() - began))
            cpu[name].append((_busy_s() - busy_before) / runs * 1_000)
    for name, title in (
        ("naive", "naive: a gVisor container for each, through the SDK"),
        ("fresh", "CodeForge, fresh sandboxes"),
        ("account", "CodeForge, account reuse"),
    ):
        table.row(title, rates[name], "runs/s")
        table.row("   CPU time of the whole machine", cpu[name], "ms/run")
    table.ratio("throughput_fresh_over_naive", rates["fresh"], rates["naive"])
    table.ratio("throughput_account_over_naive", rates["account"], rates["naive"])


def _drive(callers: Sequence[Callable[[], None]], runs: int) -> None:
    def drive(number: int) -> None:
        for _ in range(number, runs, len(callers)):
            callers[number]()

    with ThreadPoolExecutor(len(callers)) as pool:
        list(pool.map(drive, range(len(callers))))


def _busy_s() -> float:
    """CPU seconds that this machine has spent, all cores together, since it started."""
    line = Path("/proc/stat").read_text(encoding="ascii").partition("\n")[0]
    user, nice, system, _idle, _wait, irq, softirq, *_ = map(int, line.split()[1:])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")
