"""In place of OpenAI's human-eval: the same function, the same files, and nothing is run on this machine."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional

from codeforge_client.client import Client
from codeforge_client.formats import read_lines, to_evaluation


def evaluate_functional_correctness(
    sample_file: str,
    k: Optional[List[int]] = None,
    n_workers: int = 4,
    timeout: float = 3.0,
    problem_file: str = "HumanEval.jsonl.gz",
    *,
    client: Optional[Client] = None,
) -> Dict[str, float]:
    """``{"pass@1": …}``, and ``<sample_file>_results.jsonl`` with `result` and `passed` in each sample.

    ``timeout``: seconds of a sample. ``n_workers`` is for old calls: the service has its own. A sample without a score
    has `passed` null: it is in no number. A k for which some problem has too few samples is left out, as there.
    """
    samples = list(read_lines(sample_file))
    problems, candidates = to_evaluation(list(read_lines(problem_file)), samples, preset="humaneval")
    fewest = min(sum(one["problemId"] == problem["id"] for one in candidates) for problem in problems)
    wanted = [number for number in (k or [1, 10, 100]) if number <= fewest]
    ours = client or Client()
    try:
        evaluation = ours.evaluate(
            language="python",
            problems=problems,
            candidates=candidates,
            k=wanted or [1],
            isolation="account",
            limits={"wallTimeMs": max(1, int(timeout * 1000))},
        )
        outcomes = {one["candidateId"]: one for one in ours.results(evaluation["evaluationId"])}
    finally:
        if client is None:
            ours.close()
    with open(sample_file + "_results.jsonl", "w", encoding="utf-8") as file:
        for number, sample in enumerate(samples):
            print(json.dumps({**sample, **_verdict(outcomes[str(number)])}), file=file)
    return {f"pass@{number}": found["value"] for number, found in evaluation["passAtK"].items()}


def _verdict(outcome: Dict[str, Any]) -> Dict[str, Any]:
    if outcome["passed"]:
        return {"result": "passed", "passed": True}
    if outcome["passed"] is None:
        return {"result": f"no score: {outcome['reason']}", "passed": None}
    result = "timed out" if outcome["status"] == "TIMEOUT" else f"failed: {outcome['reason']}"
    return {"result": result, "passed": False}
