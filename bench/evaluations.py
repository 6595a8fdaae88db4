"""Scores HumanEval-X through the public API: its own solutions, emptied ones, and ones that exit with 0 at once.

    python -m bench.evaluations FOLDER [LANGUAGE …]

FOLDER holds the benchmark's files (python.jsonl.gz, js.jsonl.gz, java.jsonl.gz, cpp.jsonl.gz). The address and key come
from CODEFORGE_URL and CODEFORGE_API_KEY, which `make up` writes to var/demo.env. The emptied and the leaving ones must
score 0.0 exactly.
"""

import gzip
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import requests

FILES = {"python": "python", "javascript": "js", "java": "java", "cpp": "cpp"}
EMPTY = {
    "python": "    pass\n",
    "javascript": "  return null;\n}\n",
    "java": "        return null;\n    }\n}\n",
    "cpp": "    throw 0;\n}\n",
}
LEAVES = {
    "python": "    pass\nimport os\nos._exit(0)\n",
    "javascript": "}\nprocess.exit(0)\n",
    "java": "        throw new RuntimeException();\n    }\n    static { System.exit(0); }\n}\n",
    "cpp": "    throw 0;\n}\nstruct Leaves { Leaves() { _Exit(0); } } leaves;\n",
}


def lines(language: str, problems: list[dict[str, str]], completion: str | None) -> Iterator[str]:
    """The evaluation as JSON Lines. ``completion`` in place of the benchmark's own solutions, if there is one."""
    yield json.dumps({"language": language, "isolation": "account", "name": f"HumanEval-X {language}"})
    for problem in problems:
        asked = {
            "id": problem["task_id"],
            "preset": "humaneval-x",
            "prompt": problem["prompt"],
            "test": problem["test"],
        }
        yield json.dumps(asked)
        text = problem["canonical_solution"] if completion is None else completion
        yield json.dumps({"problemId": problem["task_id"], "completion": text})


def evaluate(body: str) -> tuple[dict[str, Any], float]:
    """The evaluation when it has ended, and the seconds that it took."""
    url = os.environ["CODEFORGE_URL"]
    headers = {"Authorization": f"Bearer {os.environ['CODEFORGE_API_KEY']}"}
    began = time.monotonic()
    made = requests.post(
        f"{url}/v1/evaluations", body.encode(), headers={**headers, "Content-Type": "application/x-ndjson"}, timeout=90
    )
    made.raise_for_status()
    now: dict[str, Any] = made.json()
    while now["status"] in {"QUEUED", "RUNNING"}:
        address = f"{url}/v1/evaluations/{now['evaluationId']}?wait=60"
        now = requests.get(address, headers=headers, timeout=90).json()
    return now, time.monotonic() - began


def main(folder: Path, languages: list[str]) -> None:
    for language in languages:
        with gzip.open(folder / f"{FILES[language]}.jsonl.gz", "rt", encoding="utf-8") as file:
            problems = [json.loads(line) for line in file]
        for kind, completion in (("its own", None), ("emptied", EMPTY[language]), ("leaving", LEAVES[language])):
            now, seconds = evaluate("\n".join(lines(language, problems, completion)) + "\n")
            passed = sum(problem["c"] for problem in now["problems"])
            scored, unscored = now["progress"]["scored"], now["progress"]["unscored"]
            value = now["passAtK"].get("1", {}).get("value")
            print(
                f"{language}, {kind}: {passed} of {scored} passed, {unscored} unscored, pass@1 {value}, {seconds:.0f} s"
            )
            if completion is None:
                for problem in now["problems"]:
                    if not problem["c"]:
                        print(f"  {problem['id']}: {problem['statuses']}")
            sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:] or list(FILES))
