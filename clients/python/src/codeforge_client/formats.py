"""The files of benchmarks, as they are: OpenAI's human-eval, HumanEval-X, EvalPlus. JSON Lines, compressed or not."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Tuple, Union

from codeforge_client.errors import CodeForgeError

Row = Dict[str, Any]


def read_lines(path: Union[str, Path]) -> Iterator[Row]:
    """The objects of a file of JSON Lines. What is wrong is told with its line."""
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise CodeForgeError(f"{path}, line {number}: {error}") from None
            if not isinstance(row, dict):
                raise CodeForgeError(f"{path}, line {number}: not an object.")
            yield row


def to_evaluation(problems: List[Row], samples: List[Row], *, preset: str) -> Tuple[List[Row], List[Row]]:
    """Problems and candidates as the API takes them. Only problems that have samples are asked.

    A sample has a `completion`, which follows the prompt, or, as EvalPlus writes it, a `solution`, which is whole.
    """
    asked = {sample["task_id"] for sample in samples if "task_id" in sample}
    are_whole = any("solution" in sample for sample in samples)
    shown = [
        _problem(problem, preset, with_prompt=not are_whole) for problem in problems if problem["task_id"] in asked
    ]
    candidates = [_candidate(sample, number, are_whole) for number, sample in enumerate(samples)]
    return shown, candidates


def _problem(problem: Mapping[str, Any], preset: str, *, with_prompt: bool) -> Row:
    shown: Row = {"id": problem["task_id"], "preset": preset, "test": problem["test"]}
    if with_prompt:
        shown["prompt"] = problem.get("prompt", "")
    if problem.get("entry_point"):
        shown["entryPoint"] = problem["entry_point"]
    return shown


def _candidate(sample: Mapping[str, Any], number: int, are_whole: bool) -> Row:
    field = "solution" if are_whole else "completion"
    if "task_id" not in sample or field not in sample:
        raise CodeForgeError(f"Sample {number + 1} has no `task_id` or no `{field}`.")
    # An empty completion is a candidate that fails, not one that cannot be sent.
    return {
        "problemId": sample["task_id"],
        "id": str(number),
        "completion": sample[field] if sample[field].strip() else "#",
    }
