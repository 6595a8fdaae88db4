"""The front page's scoring sample: `CODEFORGE_URL=… CODEFORGE_API_KEY=… python -m dev.sample [LANGUAGE…]`, else in all.

In place of a model's answers stand the five programs of each file in `candidates/`: all print n! for the n they read.
"""

import os
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import requests

API = os.environ["CODEFORGE_URL"]
LANGUAGES = ("python", "javascript", "java", "cpp")


def generate_solutions(language: str) -> list[str]:
    return (Path(__file__).parent / "candidates" / f"{language}.txt").read_text().split("---\n")


def execute(language: str, source: str, stdin: str) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {os.environ['CODEFORGE_API_KEY']}"}
    accepted = requests.post(
        f"{API}/v1/executions",
        headers={**headers, "Idempotency-Key": str(uuid.uuid4())},
        json={"language": language, "source": source, "stdin": stdin},
        timeout=30,
    )
    accepted.raise_for_status()
    eid = accepted.json()["executionId"]
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        r: dict[str, Any] = requests.get(f"{API}/v1/executions/{eid}", headers=headers, timeout=30).json()
        if r["status"] not in ("QUEUED", "RUNNING"):
            return r
        time.sleep(0.5)
    sys.exit(f"{language}: execution {eid} is still {r['status']} after three minutes. Does the worker run?")


def main() -> int:
    wrong = []
    with ThreadPoolExecutor(20) as pool:
        runs = {
            language: [pool.submit(execute, language, source, "4\n") for source in generate_solutions(language)]
            for language in sys.argv[1:] or LANGUAGES
        }
        for language, futures in runs.items():
            results = [future.result() for future in futures]
            passed = [r for r in results if r["stdout"].strip() == "24"]
            wrong += [r for r in results if r not in passed]
            print(f"{language}: pass@5: {len(passed)}/{len(results)}", flush=True)
    for r in wrong:
        print(f"  {r['language']} {r['executionId']}: {r['status']} {r['stdout']!r} {r['stderr']!r} {r['error']}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
