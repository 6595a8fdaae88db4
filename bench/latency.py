"""One program at a time on an idle machine: from submission to the verdict."""

import time

from bench.api import Api
from bench.measure import Table, timed_ms
from bench.rivals import Naive, subprocess_run, warm_container

SAMPLES = 10
PAUSE_S = 1.0  # until the pool stands ready again: this is about an idle service


def measure(table: Table, *, rounds: int) -> None:
    table.section("Latency of one short Python program, idle")
    naive, fresh, reused = Naive(), Api(), Api("account")
    samples: dict[str, list[float]] = {name: [] for name in ("bare", "warm", "naive", "fresh", "reused")}
    with warm_container() as warm:
        ways = {
            "bare": subprocess_run,
            "warm": warm.run,
            "naive": naive.run,
            "fresh": fresh.run,
            "reused": reused.run,
        }
        for way in ways.values():
            way()
        for _ in range(rounds * SAMPLES):
            for name, way in ways.items():
                time.sleep(PAUSE_S)
                samples[name].append(timed_ms(way))
    table.row("subprocess on the host, no isolation", samples["bare"], "ms")
    table.row("in a gVisor container started already", samples["warm"], "ms")
    table.row("naive: a gVisor container for each, through the SDK", samples["naive"], "ms")
    table.row("CodeForge, API to verdict, fresh sandbox", samples["fresh"], "ms")
    table.row("CodeForge, API to verdict, account reuse", samples["reused"], "ms")
    table.ratio("latency_fresh_over_warm", samples["fresh"], samples["warm"])
    table.ratio("latency_fresh_over_naive", samples["fresh"], samples["naive"])
