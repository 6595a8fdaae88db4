"""The command `codeforge`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

from tqdm import tqdm

from codeforge_client.client import Client
from codeforge_client.errors import CodeForgeError
from codeforge_client.formats import read_lines, to_evaluation

LANGUAGES = {".py": "python", ".js": "javascript", ".mjs": "javascript", ".java": "java", ".cpp": "cpp", ".cc": "cpp"}
PRESETS = ("humaneval", "humaneval-x", "mbpp", "multipl-e", "plain")


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(
        prog="codeforge",
        description="Runs and scores code written by language models. "
        "CODEFORGE_URL and CODEFORGE_API_KEY say where, and with which key.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run a program; prints what it prints, exits as it exits")
    run.add_argument("file", type=Path)
    run.add_argument("--stdin", default="", help="its standard input")
    run.add_argument("--language", choices=sorted(set(LANGUAGES.values())), help="where the suffix does not say it")
    run.set_defaults(do=_run)
    evaluate = commands.add_parser("evaluate", help="score samples: pass@k; goes on where it was when run again")
    evaluate.add_argument("problems", type=Path, help="JSON Lines, also .gz: as the benchmark has them")
    evaluate.add_argument("samples", type=Path, help="JSON Lines with task_id and completion, or solution")
    evaluate.add_argument("--preset", choices=PRESETS, default="humaneval")
    evaluate.add_argument("--language", choices=sorted(set(LANGUAGES.values())), default="python")
    evaluate.add_argument("--k", default="1", help="as in 1,10")
    evaluate.add_argument("--name", default="")
    evaluate.add_argument("--results", type=Path, default=Path("results.jsonl"))
    evaluate.set_defaults(do=_evaluate)
    chosen = parser.parse_args(arguments)
    try:
        return int(chosen.do(chosen))
    except (CodeForgeError, OSError) as error:
        print(f"codeforge: {error}", file=sys.stderr)
        return 2


def _run(chosen: argparse.Namespace) -> int:
    language = chosen.language or LANGUAGES.get(chosen.file.suffix)
    if language is None:
        raise CodeForgeError(f"Which language is {chosen.file}? Say it with --language.")
    with Client() as client:
        ended = client.execute(language, chosen.file.read_text(encoding="utf-8"), stdin=chosen.stdin, fresh=True)
    compilation = ended.get("compile") or {}
    sys.stderr.write(compilation.get("stderr") or "")
    sys.stdout.write(ended["stdout"])
    sys.stderr.write(ended["stderr"])
    if ended["status"] not in {"SUCCEEDED", "RUNTIME_ERROR"}:
        print(f"codeforge: {ended['status']}", file=sys.stderr)
    if ended["exitCode"] is not None:
        return int(ended["exitCode"])
    return 0 if ended["status"] == "SUCCEEDED" else 1


def _evaluate(chosen: argparse.Namespace) -> int:
    try:
        ks = sorted({int(number) for number in chosen.k.split(",")})
    except ValueError:
        raise CodeForgeError("--k takes numbers, as in 1,10") from None
    problems, candidates = to_evaluation(
        list(read_lines(chosen.problems)), list(read_lines(chosen.samples)), preset=chosen.preset
    )
    with Client() as client, tqdm(total=len(candidates), unit="candidate") as bar:

        def show(now: Dict[str, Any]) -> None:
            bar.update(now["progress"]["scored"] + now["progress"]["unscored"] - bar.n)

        evaluation = client.evaluate(
            language=chosen.language,
            problems=problems,
            candidates=candidates,
            k=ks,
            name=chosen.name,
            isolation="account",
            on_progress=show,
        )
        with chosen.results.open("w", encoding="utf-8") as file:
            for outcome in client.results(evaluation["evaluationId"]):
                file.write(json.dumps(outcome) + "\n")
    print("\n".join(_table(evaluation)))
    print(f"Every candidate is in {chosen.results}.")
    return 0


def _table(evaluation: Dict[str, Any]) -> List[str]:
    progress = evaluation["progress"]
    lines = [f"{progress['scored']} scored, {progress['unscored']} without a score, of {progress['total']}"]
    for k, found in evaluation["passAtK"].items():
        lines.append(f"pass@{k}  {found['value']:.4f}  (95 %: {found['low']:.4f} to {found['high']:.4f})")
    lines += [f"pass@{missing['k']}  not reported: {missing['reason']}" for missing in evaluation["notReported"]]
    return lines


if __name__ == "__main__":
    sys.exit(main())
