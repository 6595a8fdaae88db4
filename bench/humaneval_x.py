"""Runs the canonical solutions of HumanEval-X through the public API and counts how many succeed.

    python -m bench.humaneval_x FOLDER [LANGUAGE …]

FOLDER holds the benchmark's files (python.jsonl.gz, js.jsonl.gz, java.jsonl.gz, cpp.jsonl.gz). The address and key come
from CODEFORGE_URL and CODEFORGE_API_KEY, which `make up` writes to var/demo.env.

A few canonical solutions need more than a standard library (javascript 162 an npm package; cpp 22 and 137 Boost, cpp
162 OpenSSL): those fail, by design. `console.assert` does not fail a JavaScript program, which counts as succeeded.
"""

import gzip
import json
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.api import Api

FILES = {"python": "python", "javascript": "js", "java": "java", "cpp": "cpp"}
WORKERS = 8

# The benchmark puts these above every program, so that a solution may use them without a word.
PYTHON_IMPORTS = """import math, re, sys, copy, datetime, itertools, collections, heapq
import statistics, functools, hashlib, string
from typing import *
from collections import *
"""
CPP_INCLUDES = ("stdlib.h", "algorithm", "math.h", "stdio.h", "vector", "string", "climits", "cstring", "iostream")


def assemble(language: str, problem: dict[str, str]) -> str:
    """The whole program: prompt, solution and test in the benchmark's order."""
    program = problem["prompt"] + problem["canonical_solution"] + "\n" + problem["test"]
    if language == "python":
        return PYTHON_IMPORTS + program
    if language == "cpp":
        return "".join(f"#include<{name}>\n" for name in CPP_INCLUDES) + program
    return program


def evaluate(api: Api, language: str, problem: dict[str, str]) -> tuple[str, str]:
    """The problem's id and the status that its canonical solution ended with."""
    options = {"standard": "c++17"} if language == "cpp" else {}
    execution = api.evaluate(language=language, source=assemble(language, problem), options=options)
    return problem["task_id"], execution["status"]


def main(folder: Path, languages: list[str]) -> None:
    api = Api()
    for language in languages:
        with gzip.open(folder / f"{FILES[language]}.jsonl.gz", "rt", encoding="utf-8") as lines:
            problems = [json.loads(line) for line in lines]
        with ThreadPoolExecutor(WORKERS) as pool:
            ended = list(pool.map(lambda problem, name=language: evaluate(api, name, problem), problems))
        counts = Counter(status for _, status in ended)
        print(f"{language}: {counts['SUCCEEDED']}/{len(problems)} SUCCEEDED", flush=True)
        for task, status in ended:
            if status != "SUCCEEDED":
                print(f"  {task}: {status}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:] or list(FILES))
