"""`make bench`: what a run costs, beside what it would cost without us, all measured in one go on one machine.

Every figure is taken in rounds that alternate with those it is compared with, so that a noisy machine is noisy for
both; ratios are of medians. Writes the table to stdout and the ratios with their samples to var/bench.json.

Needs the demo of `make up` on this machine (CODEFORGE_URL, CODEFORGE_API_KEY) and its Docker engine (DOCKER_HOST).
"""

import argparse
from pathlib import Path

from bench import compilers, latency, tests, throughput
from bench.measure import Table

OUTPUT = Path(__file__).parent.parent / "var" / "bench.json"


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--humaneval", type=Path, help="the folder of HumanEval-X: run it whole as well")
    chosen = parser.parse_args()
    table = Table()
    for part in (latency, throughput, tests, compilers):
        part.measure(table, rounds=chosen.rounds)
    if chosen.humaneval:
        from bench import scoring  # noqa: PLC0415  only when it is asked for

        scoring.measure(table, chosen.humaneval, rounds=chosen.rounds)
    table.write(OUTPUT)
    if chosen.humaneval:
        from bench import humaneval_x  # noqa: PLC0415  only when it is asked for

        humaneval_x.main(chosen.humaneval, list(humaneval_x.FILES))


if __name__ == "__main__":
    main()
