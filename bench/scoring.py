"""An evaluation of HumanEval-X Python, five candidates for each problem, beside local processes without a sandbox."""

import contextlib
import gzip
import io
import json
import multiprocessing
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.managers import ListProxy
from pathlib import Path

from bench.evaluations import evaluate
from bench.measure import Table
from executions.evaluations.presets import Parts, assemble

CANDIDATES = 5
WORKERS = 4
TIMEOUT_S = 10.0

Problem = dict[str, str]


def measure(table: Table, folder: Path, *, rounds: int) -> None:
    with gzip.open(folder / "python.jsonl.gz", "rt", encoding="utf-8") as file:
        problems: list[Problem] = [json.loads(line) for line in file]
    runs = CANDIDATES * len(problems)
    table.section(f"An evaluation of {runs} candidates, HumanEval-X Python")
    ways: dict[str, Callable[[], int]] = {
        "harness": lambda: _locally(problems),
        "account": lambda: _by_us(problems, "account"),
        "fresh": lambda: _by_us(problems, "execution"),
    }
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            began = time.perf_counter()
            passed = way()
            rates[name].append(runs / (time.perf_counter() - began))
            assert passed == runs, f"{name}: {passed} of {runs} passed"
    table.row("a process for each, no sandbox, as human-eval does", rates["harness"], "runs/s")
    table.row("CodeForge, account reuse", rates["account"], "runs/s")
    table.row("CodeForge, fresh sandboxes", rates["fresh"], "runs/s")
    table.ratio("evaluation_account_over_harness", rates["account"], rates["harness"])
    table.ratio("evaluation_fresh_over_harness", rates["fresh"], rates["harness"])


def _candidates(problem: Problem) -> list[str]:
    """Five that do the same and are not the same; new in each round, or they would only be looked up."""
    return [f"{problem['canonical_solution']}\n# {uuid.uuid4()}\n" for _ in range(CANDIDATES)]


def _by_us(problems: list[Problem], isolation: str) -> int:
    lines = [json.dumps({"language": "python", "isolation": isolation})]
    for problem in problems:
        asked = {
            "id": problem["task_id"],
            "preset": "humaneval-x",
            "prompt": problem["prompt"],
            "test": problem["test"],
        }
        lines.append(json.dumps(asked))
        lines += [json.dumps({"problemId": problem["task_id"], "completion": text}) for text in _candidates(problem)]
    ended, _ = evaluate("\n".join(lines) + "\n")
    return sum(problem["c"] for problem in ended["problems"])


def _locally(problems: list[Problem]) -> int:
    programs = [
        assemble("humaneval-x", "python", Parts(problem["prompt"], text, problem["test"], ""))
        for problem in problems
        for text in _candidates(problem)
    ]
    with ThreadPoolExecutor(WORKERS) as pool:
        return sum(pool.map(_passes, programs))


def _passes(program: str) -> bool:
    """A process for the program, and one that keeps its result, as human-eval has them."""
    with multiprocessing.Manager() as manager:
        result = manager.list()
        process = multiprocessing.Process(target=_execute, args=(program, result))
        process.start()
        process.join(TIMEOUT_S)
        if process.is_alive():
            process.kill()
            process.join()
        return list(result) == ["passed"]


def _execute(program: str, result: "ListProxy[str]") -> None:
    silent = io.StringIO()
    with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent):
        try:
            exec(program.rpartition("\n__import__")[0], {"__name__": "__main__"})
        except BaseException:  # noqa: BLE001  whatever the program does
            result.append("failed")
        else:
            result.append("passed")
