import asyncio
import gzip
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from standardwebhooks.webhooks import Webhook

from codeforge_client import AsyncClient, Client, CodeForgeError, NoAnswer, Refused, protocol
from codeforge_client.command import main
from codeforge_client.human_eval import evaluate_functional_correctness
from codeforge_client.webhooks import NotFromUs, verify
from executions.models import Execution
from tests.cast import Caller, allow
from tests.worker_process import Process

pytestmark = pytest.mark.django_db(transaction=True)

PROBLEM = {"id": "p", "tests": [{"stdin": "4", "expectedStdout": "4"}]}


def test_a_program_is_run_and_the_same_one_is_not_run_again(served: Caller, worker: Process) -> None:
    with Client() as client:
        first = client.execute("python", "x", stdin="4\n")
        again = client.execute("python", "x", stdin="4\n")
        fresh = client.execute("python", "x", stdin="4\n", fresh=True)
    assert (first["status"], first["stdout"]) == ("SUCCEEDED", "4\n")
    assert first["executionId"] == again["executionId"] != fresh["executionId"]
    assert Execution.objects.count() == 2


def test_many_are_run_in_order(served: Caller, worker: Process) -> None:
    programs = [{"language": "python", "source": "x", "stdin": str(number)} for number in range(40)]
    with Client() as client:
        ended = client.execute_many(programs, concurrency=8)
    assert [one["stdout"] for one in ended] == [str(number) for number in range(40)]

    async def again() -> list[dict[str, Any]]:
        async with AsyncClient() as client:
            return await client.execute_many(programs, concurrency=8)

    assert [one["executionId"] for one in asyncio.run(again())] == [one["executionId"] for one in ended]


def test_a_reward_is_one_or_zero_or_nothing(served: Caller, worker: Process) -> None:
    tests = [{"stdin": "4", "expectedStdout": "4"}]
    with Client() as client:
        assert client.reward("python", "x", tests) == 1.0
        assert client.reward("python", "x", [{"stdin": "4", "expectedStdout": "5"}]) == 0.0
        assert client.reward("python", "fail", tests) is None

    async def awaited() -> float | None:
        async with AsyncClient() as client:
            return await client.reward("python", "x", tests)

    assert asyncio.run(awaited()) == 1.0


def test_an_evaluation_is_scored_and_goes_on_where_it_was(served: Caller, worker: Process) -> None:
    candidates = [{"problemId": "p", "source": "a"}, {"problemId": "p", "source": "fail"}]
    seen: list[int] = []
    with Client() as client:
        asked: dict[str, Any] = {"language": "python", "problems": [PROBLEM], "candidates": candidates}
        made = client.evaluate(**asked, on_progress=lambda now: seen.append(now["progress"]["total"]))
        again = client.evaluate(**asked)
        results = list(client.results(made["evaluationId"]))
    assert made["evaluationId"] == again["evaluationId"]
    assert made["passAtK"]["1"]["value"] == 1.0
    assert made["progress"]["unscored"] == 1
    assert [one["passed"] for one in results] == [True, None]
    assert set(seen) == {2}
    assert Execution.objects.count() == 2

    async def awaited() -> tuple[dict[str, Any], list[dict[str, Any]]]:
        async with AsyncClient() as client:
            evaluation = await client.evaluate(**asked)
            return evaluation, [one async for one in client.results(evaluation["evaluationId"])]

    assert asyncio.run(awaited()) == (again, results)


def test_a_refusal_says_what_is_wrong(served: Caller) -> None:
    with Client() as client, pytest.raises(Refused) as refusal:
        client.execute("cobol", "x")
    assert (refusal.value.status, refusal.value.code) == (400, "invalid_request")
    assert "language: " in str(refusal.value)
    with Client(key="cf_live_wrong") as stranger, pytest.raises(Refused, match="unauthenticated"):
        stranger.execute("python", "x")
    with Client() as client, pytest.raises(Refused, match="not_found"):
        next(client.results("00000000-0000-0000-0000-000000000000"))


def test_without_an_address_or_a_key_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CODEFORGE_URL", raising=False)
    monkeypatch.delenv("CODEFORGE_API_KEY", raising=False)
    with pytest.raises(CodeForgeError, match="CODEFORGE_API_KEY"):
        Client()


def answering(*answers: httpx.Response | Exception) -> Callable[[httpx.Request], httpx.Response]:
    left = list(answers)

    def answer(request: httpx.Request) -> httpx.Response:
        found = left.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    return answer


ENDED = {"executionId": "1", "status": "SUCCEEDED", "passed": True}


def through(monkeypatch: pytest.MonkeyPatch, *answers: httpx.Response | Exception) -> tuple[Client, list[float]]:
    """A client whose requests are answered so, and the pauses that it makes."""
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    client = Client("http://localhost:1", "key", tries=3)
    client._http.close()
    client._http = httpx.Client(base_url="http://localhost:1", transport=httpx.MockTransport(answering(*answers)))
    return client, pauses


def test_it_waits_as_long_as_the_server_says_and_goes_on_after_a_lost_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    busy = httpx.Response(429, headers={"Retry-After": "7"}, json={"code": "queue_full"})
    client, pauses = through(monkeypatch, busy, httpx.ConnectError("gone"), httpx.Response(202, json=ENDED))
    with client:
        assert client.execute("python", "x") == ENDED
    assert pauses[0] == 7
    assert 0.4 < pauses[1] <= 1.0


def test_it_gives_up_in_the_end_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    client, _ = through(monkeypatch, *[httpx.ConnectError("gone")] * 3)
    with client, pytest.raises(NoAnswer, match="gone"):
        client.execute("python", "x")
    client, _ = through(monkeypatch, *[httpx.Response(503, content=b"<html>")] * 3)
    with client, pytest.raises(Refused) as refusal:
        client.execute("python", "x")
    assert refusal.value.status == 503


def test_what_is_refused_for_good_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    client, pauses = through(monkeypatch, httpx.Response(402, json={"code": "quota_exceeded", "detail": "All used."}))
    with client, pytest.raises(Refused, match="All used"):
        client.execute("python", "x")
    assert pauses == []


def test_every_repetition_carries_the_key_of_the_first_try() -> None:
    steps = protocol.execute({"language": "python", "source": "x"}, fresh=True, tries=3)
    first = steps.send(None)
    pause = steps.send(protocol.Reply(503))
    second = steps.send(None)
    assert isinstance(pause, protocol.Pause)
    assert first == second
    other = protocol.execute({"source": "x", "language": "python"}, fresh=False, tries=1).send(None)
    same = protocol.execute({"language": "python", "source": "x"}, fresh=False, tries=1).send(None)
    assert other == same != first


# --- The command -----------------------------------------------------------------------------------------------------


def write(path: Path, *rows: dict[str, Any]) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def human_eval(folder: Path, *completions: str, field: str = "completion") -> tuple[Path, Path]:
    problem = {"prompt": "def f():\n", "test": "def check(f): pass", "entry_point": "f", "canonical_solution": ""}
    problems = write(
        folder / "HumanEval.jsonl.gz", {"task_id": "HumanEval/0", **problem}, {"task_id": "HumanEval/1", **problem}
    )
    samples = [{"task_id": "HumanEval/0", field: text} for text in completions]
    return problems, write(folder / "samples.jsonl", *samples)


def test_run_prints_what_the_program_prints(
    served: Caller, worker: Process, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "fact.py"
    program.write_text("x")
    assert main(["run", str(program), "--stdin", "4"]) == 0
    assert capsys.readouterr().out == "4"
    program.write_text("wrong")
    assert main(["run", str(program)]) == 1
    assert main(["run", str(tmp_path / "none.py")]) == 2
    assert "none.py" in capsys.readouterr().err
    (tmp_path / "x.txt").write_text("x")
    assert main(["run", str(tmp_path / "x.txt")]) == 2
    assert "--language" in capsys.readouterr().err


def test_evaluate_scores_a_benchmarks_own_files_and_never_makes_a_zero_of_our_failure(
    served: Caller, worker: Process, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problems, samples = human_eval(tmp_path, "    return 1\n", "    wrong\n", "    return 2\n", "    wrong\n")
    results = tmp_path / "results.jsonl"
    command = ["evaluate", str(problems), str(samples), "--k", "1,2", "--results", str(results)]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "4 scored, 0 without a score, of 4" in shown
    assert "pass@1  0.5000" in shown
    assert [json.loads(line)["passed"] for line in results.read_text().splitlines()] == [True, False, True, False]
    runs = Execution.objects.count()
    assert main(command) == 0
    assert Execution.objects.count() == runs == 3


@pytest.mark.parametrize(
    ("problems", "samples", "complaint"),
    [
        ("{\n", "{}\n", "line 1"),
        ('{"task_id": "a", "test": "x"}\n', '{"task_id": "a"}\n', "Sample 1"),
        ("[]\n", "{}\n", "line 1: not an object"),
    ],
)
def test_files_that_are_wrong_are_told_by_their_line(  # noqa: PLR0917
    served: Caller, tmp_path: Path, capsys: pytest.CaptureFixture[str], problems: str, samples: str, complaint: str
) -> None:
    (tmp_path / "p.jsonl").write_text(problems)
    (tmp_path / "s.jsonl").write_text(samples)
    assert main(["evaluate", str(tmp_path / "p.jsonl"), str(tmp_path / "s.jsonl")]) == 2
    assert complaint in capsys.readouterr().err


def test_in_place_of_human_evals_function(served: Caller, worker: Process, tmp_path: Path) -> None:
    problems, samples = human_eval(tmp_path, "    return 1\n", "    wrong\n")
    found = evaluate_functional_correctness(str(samples), k=[1, 10], problem_file=str(problems))
    assert found == {"pass@1": 0.5}
    rows = [json.loads(line) for line in Path(f"{samples}_results.jsonl").read_text().splitlines()]
    assert [(row["passed"], row["result"]) for row in rows] == [(True, "passed"), (False, "failed: runtime_error")]
    assert rows[0]["completion"] == "    return 1\n"


def test_whole_solutions_as_evalplus_writes_them(served: Caller, worker: Process, tmp_path: Path) -> None:
    problems, samples = human_eval(tmp_path, "def f():\n    return 1\n", field="solution")
    assert main(["evaluate", str(problems), str(samples), "--results", str(tmp_path / "r.jsonl")]) == 0
    assert Execution.objects.get().source.startswith("def f():\n    return 1\n")


def test_a_quota_that_is_used_up_is_told(served: Caller, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    allow(monthly_runs=0)
    problems, samples = human_eval(tmp_path, "    return 1\n")
    assert main(["evaluate", str(problems), str(samples)]) == 2
    assert "quota_exceeded" in capsys.readouterr().err


# --- Webhooks --------------------------------------------------------------------------------------------------------

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def signed(body: str, at: float) -> dict[str, str]:
    """By an independent implementation of Standard Webhooks."""

    signature = Webhook(SECRET).sign("msg_1", datetime.fromtimestamp(at, tz=UTC), body)
    return {"webhook-id": "msg_1", "webhook-timestamp": str(int(at)), "webhook-signature": signature}


def test_a_webhook_of_ours_is_taken_and_any_other_is_not() -> None:
    body, now = '{"type": "execution.finished"}', 1_800_000_000.0
    headers = signed(body, now)
    assert verify(body, headers, SECRET, now=now)["type"] == "execution.finished"
    both = {**headers, "Webhook-Signature": "v1,AAAA " + headers["webhook-signature"]}
    del both["webhook-signature"]
    assert verify(body.encode(), both, SECRET, now=now)
    for wrong_body, wrong, at in (
        (body + " ", headers, now),
        (body, {**headers, "webhook-id": "msg_2"}, now),
        (body, {**headers, "webhook-signature": "v1,AAAA"}, now),
        (body, {}, now),
        (body, headers, now + 301),
        (body, headers, now - 301),
    ):
        with pytest.raises(NotFromUs):
            verify(wrong_body, wrong, SECRET, now=at)
