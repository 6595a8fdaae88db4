"""Nothing that a customer sent, and no key, is ever written to a log."""

import json
import logging
from collections.abc import Callable

import pytest
from django.db import DatabaseError, connection

from codeforge.errors import QueueFull
from codeforge.logs import JsonFormatter, LineFormatter, chain
from executions.models import Execution
from sandbox.errors import SandboxLost
from sandbox.fake import FakeEvaluator, result
from sandbox.job import Job
from sandbox.result import Result
from tests.cast import Caller, Workbench

SECRETS = (
    "source-7f3a",
    "stdin-7f3a",
    "arg-7f3a",
    "file-7f3a",
    "path-7f3a",
    "meta-7f3a",
    "stdout-7f3a",
    "expected-7f3a",
)


@pytest.mark.django_db(transaction=True)
def test_a_whole_life_leaves_no_word_of_the_program(owner: Caller, log_text: Callable[[], str]) -> None:
    def script(fake: FakeEvaluator, job: Job) -> Result:
        if len(fake.jobs) == 1:
            raise SandboxLost("of no interest")
        if len(fake.jobs) == 2:
            raise ValueError(job.program.source)
        return result(job, stdout=b"stdout-7f3a")

    shown = owner.submit(
        source="source-7f3a",
        stdin="stdin-7f3a",
        args=["arg-7f3a"],
        files=[{"path": "path-7f3a", "content": "file-7f3a"}],
        metadata={"a": "meta-7f3a"},
        expectedStdout="expected-7f3a",
        key="key-7f3a",
    )
    Workbench(script).run_all()
    owner.look(shown["executionId"])
    owner.get("/v1/executions?metadata[a]=meta-7f3a")
    owner.get(f"/v1/executions/{shown['executionId']}/source")
    owner.post("/v1/executions", {"language": "python", "source": "source-7f3a", "source-7f3a": 1})

    logged = log_text()
    assert "POST /v1/executions 202" in logged
    assert "SandboxLost" in logged
    assert "ValueError" in logged
    for secret in (*SECRETS, "key-7f3a", owner.key, owner.key[8:]):
        assert secret not in logged


@pytest.mark.django_db(transaction=True)
def test_what_postgresql_quotes_is_not_repeated(owner: Caller, log_text: Callable[[], str]) -> None:
    with pytest.raises(DatabaseError) as raised:
        Execution.objects.create(account=owner.account, limits={}, source=SECRETS[0], status="NONSENSE")
    assert SECRETS[0] in str(raised.value)

    logging.getLogger("executions").error("failed", exc_info=raised.value)

    assert "IntegrityError" in log_text()
    assert SECRETS[0] not in log_text()
    connection.close()


def test_our_own_exceptions_speak_and_foreign_ones_do_not() -> None:
    error = SandboxLost("what we say")
    error.__cause__ = KeyError("what was sent")
    told = chain(error)
    assert "what we say" in told
    assert "KeyError" in told
    assert "what was sent" not in told
    assert "QueueFull" in chain(QueueFull(waiting=1, limit=1, retry_after_s=1))


def test_a_line_is_one_line_and_json_is_json() -> None:
    record = logging.LogRecord("executions", logging.INFO, __file__, 1, "said %s", ("it",), None)
    record.execution = "x"
    assert LineFormatter().format(record).count("\n") == 0
    assert "INFO executions [-] said it execution=x" in LineFormatter().format(record)
    entry = json.loads(JsonFormatter().format(record))
    assert (entry["message"], entry["execution"], entry["requestId"]) == ("said it", "x", None)


@pytest.mark.django_db
def test_a_path_with_line_breaks_makes_no_second_line(visitor: Caller, log_text: Callable[[], str]) -> None:
    visitor.get("/v1/%0a2026-11-30T00:00:00Z%20ERROR%20forged%0d%c3%a9")
    assert "\n2026-11-30T00:00:00Z ERROR forged" not in log_text()


def test_a_path_with_a_key_or_with_what_a_terminal_obeys_is_shown_without(
    visitor: Caller, owner: Caller, log_text: Callable[[], str]
) -> None:
    visitor.get(f"/v1/executions/{owner.key}")
    visitor.get("/v1/%1b]0;x%07%1b[31m%00%7f%c3%a9")
    # Django's own line on a 404 is below the level of the settings.
    told = "\n".join(line for line in log_text().splitlines() if "codeforge.request_id" in line)
    assert owner.key not in told
    assert "/v1/executions/<key>" in told
    assert "/v1/\\x1b]0;x\\x07\\x1b[31m\\x00\\x7f\\xe9" in told
