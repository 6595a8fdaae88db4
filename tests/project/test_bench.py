"""The benchmarks go through the public API as a customer does."""

from typing import Any

import pytest
import requests

from bench.api import Api
from bench.humaneval_x import CPP_INCLUDES, evaluate

PROBLEM = {"task_id": "CPP/0", "prompt": "int f(", "canonical_solution": ") {}", "test": "int main() {}"}


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[requests.Response]:
    """What the API answers, one after the other."""
    monkeypatch.setenv("CODEFORGE_URL", "http://localhost:1")
    monkeypatch.setenv("CODEFORGE_API_KEY", "key")
    left: list[requests.Response] = []
    monkeypatch.setattr(requests.Session, "request", lambda *args, **options: left.pop(0))
    return left


def answer(status: int, body: bytes) -> requests.Response:
    response = requests.Response()
    response.status_code, response._content = status, body
    return response


def test_a_solution_is_waited_for_and_its_status_told(answers: list[requests.Response]) -> None:
    answers += [answer(202, b'{"status": "RUNNING", "executionId": "x"}'), answer(200, b'{"status": "SUCCEEDED"}')]
    assert evaluate(Api(), "cpp", PROBLEM) == ("CPP/0", "SUCCEEDED")


def test_a_refusal_is_an_error_and_no_result(answers: list[requests.Response]) -> None:
    answers.append(answer(402, b'{"status": 402}'))
    with pytest.raises(requests.HTTPError):
        evaluate(Api(), "python", PROBLEM)


def test_a_cpp_solution_gets_the_headers_and_the_standard_of_the_benchmark() -> None:
    asked: dict[str, Any] = {}

    class Recorder(Api):
        def __init__(self) -> None: ...

        def evaluate(self, **request: Any) -> dict[str, Any]:
            asked.update(request)
            return {"status": "SUCCEEDED"}

    evaluate(Recorder(), "cpp", PROBLEM)
    assert asked["options"] == {"standard": "c++17"}
    assert asked["source"].count("#include") == len(CPP_INCLUDES)
