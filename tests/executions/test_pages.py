"""The pages of runs: what they show, and that nothing hostile in a program or its output acts on them."""

import csv
import json
import re
import uuid
from datetime import datetime
from io import StringIO
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import DjangoAssertNumQueries

from accounts import suspension
from executions.models import Execution
from executions.pages import export, text
from sandbox.fake import result
from tests.accounts.people import person, signed_in
from tests.cast import PROGRAM, Caller, Workbench, allow, read
from tests.conftest import Clock

pytestmark = pytest.mark.django_db(transaction=True)

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202egnp\r\a{{ 7*7 }}"


@pytest.fixture
def member(owner: Caller) -> Client:
    return signed_in(person("member@example.com", owner.account))


def get(client: Client, path: str, status: int = 200) -> str:
    response = client.get(path)
    assert response.status_code == status, response.content.decode()[-2_000:]
    return response.content.decode()


def test_a_run_is_in_the_overview_in_the_history_and_in_usage(
    member: Client, owner: Caller, workbench: Workbench
) -> None:
    assert "No program has run yet" in get(member, "/dashboard")
    pk = owner.submit()["executionId"]
    workbench.run_all()
    for path in ("/dashboard", "/dashboard/runs"):
        assert pk in get(member, path)
    page = get(member, f"/dashboard/runs/{pk}")
    assert "SUCCEEDED" in page
    assert "print(input())" in page
    assert re.search(r"<b>1</b>\s*runs counted", get(member, "/dashboard/usage"))


@pytest.mark.parametrize(
    ("query", "is_shown"),
    [
        ("status=SUCCEEDED", True),
        ("status=QUEUED", False),
        ("language=python", True),
        ("language=cpp", False),
        ("key=model&value=m1", True),
        ("key=model&value=m2", False),
        ("createdAfter=2020-01-01T00:00:00Z", True),
        ("createdBefore=2020-01-01T00:00:00Z", False),
        ("status=&language=&id=", True),
    ],
)
def test_the_history_is_filtered(
    member: Client,
    owner: Caller,
    workbench: Workbench,
    query: str,
    is_shown: bool,
) -> None:
    pk = owner.submit(metadata={"model": "m1"})["executionId"]
    workbench.run_all()
    assert (pk in get(member, f"/dashboard/runs?{query}")) is is_shown


@pytest.mark.parametrize(
    "query", ["status=x", "language=<b>", "createdAfter=soon", "cursor=x", "id=x", "key=%00&value=1"]
)
def test_a_filter_that_makes_no_sense_is_told(member: Client, owner: Caller, query: str) -> None:
    page = get(member, f"/dashboard/runs?{query}", status=400)
    assert 'role="alert"' in page
    assert '<b>"' not in page


def test_the_id_leads_to_the_run(member: Client, owner: Caller) -> None:
    pk = owner.submit()["executionId"]
    assert member.get(f"/dashboard/runs?id={pk}").headers["Location"] == f"/dashboard/runs/{pk}"


def test_older_runs_are_a_page_away(member: Client, owner: Caller) -> None:
    for _ in range(3):
        owner.submit()
    first = Execution.objects.get(pk=owner.submit()["executionId"])
    Execution.objects.bulk_create(
        Execution(account=owner.account, language="python", source="x", limits=first.limits) for _ in range(50)
    )
    newest = get(member, "/dashboard/runs")
    following = re.search(r'rel="next" href="([^"]+)"', newest)
    assert following
    older = get(member, "/dashboard/runs" + following[1].replace("&amp;", "&"))
    shown = [set(re.findall(r"/dashboard/runs/([0-9a-f-]{36})", page)) for page in (newest, older)]
    assert [len(page) for page in shown] == [50, 4]
    assert not shown[0] & shown[1]


def test_what_a_program_writes_is_shown_and_does_nothing(owner: Caller, member: Client) -> None:
    asked: dict[str, Any] = {"metadata": {"m<b>": HOSTILE.replace("\r", "").replace("\a", "")}, "args": [HOSTILE]}
    pk = owner.submit(source=HOSTILE, stdin=HOSTILE, **asked)["executionId"]
    Workbench(lambda fake, job: result(job, stdout=HOSTILE.encode() + b"\xff\0")).run_all()
    page = get(member, f"/dashboard/runs/{pk}")
    assert "<script" not in page
    assert page.count("&lt;script&gt;alert(1)") == 7
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "⟨U+202E⟩gnp" in page
    assert "␛[31m" in page
    assert "style=" not in page
    assert "not UTF-8" in page
    history = get(member, "/dashboard/runs?key=%3Cscript%3E&value=%22%3E%3Cscript%3E")
    assert "<script" not in history


def test_a_megabyte_of_output_is_cut_and_said_to_be(owner: Caller, member: Client) -> None:
    pk = owner.submit()["executionId"]
    Workbench(lambda fake, job: result(job, stdout="é".encode() * 500_000)).run_all()
    page = get(member, f"/dashboard/runs/{pk}")
    assert len(page) < 200_000
    assert f"{1_000_000 - text.SHOWN_BYTES} more bytes" in page


def test_an_unfinished_run_and_one_with_tests_can_be_looked_at(owner: Caller, member: Client) -> None:
    waiting = owner.submit()["executionId"]
    assert "has not ended yet" in get(member, f"/dashboard/runs/{waiting}")
    pk = owner.post("/v1/executions", {"language": "cpp", "source": "x", "tests": [{"stdin": "1"}, {"id": "<i>"}]})
    run = read(pk)["executionId"]
    Workbench().run_all()
    page = get(member, f"/dashboard/runs/{run}")
    assert "2 of 2 tests" in page
    assert "&lt;i&gt;" in page


def test_a_run_of_another_account_is_not_there(member: Client, stranger: Caller) -> None:
    pk = stranger.submit()["executionId"]
    theirs = get(member, f"/dashboard/runs/{pk}", status=404)
    nobodys = get(member, "/dashboard/runs/00000000-0000-0000-0000-000000000000", status=404)
    # But for the id of the request and the token of the form, which are new each time.
    assert re.sub(r"request \w+|value=\"\w+\"", "", theirs) == re.sub(r"request \w+|value=\"\w+\"", "", nobodys)
    assert pk not in get(member, "/dashboard/runs")


def test_usage_is_told_month_by_month(owner: Caller, clock: Clock) -> None:
    clock.move(to=datetime.fromisoformat("2031-05-31T12:00:00+00:00"))
    member = signed_in(person("member@example.com", owner.account))
    page = get(member, "/dashboard/usage")
    assert "Usage in May 2031" in page
    assert "Nothing has ended" in page
    assert "Usage in February 2030" in get(member, "/dashboard/usage?month=2030-02")
    assert "Usage in May 2031" in get(member, "/dashboard/usage?month=2030-13")


def test_what_was_cancelled_in_time_is_told_not_to_count(member: Client, owner: Caller) -> None:
    pk = owner.submit()["executionId"]
    owner.post(f"/v1/executions/{pk}/cancel")
    page = get(member, "/dashboard/usage")
    assert re.search(r"CANCELLED</span></td><td class=\"number\">1</td><td>no</td>", page)


def test_the_history_asks_as_much_of_the_database_for_fifty_runs_as_for_one(
    member: Client, owner: Caller, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    owner.submit()
    with CaptureQueriesContext(connection) as one:
        get(member, "/dashboard/runs")
    asked = len(one)
    for _ in range(9):
        owner.submit()
    with django_assert_num_queries(asked):
        get(member, "/dashboard/runs")


# --- Batches and evaluations -----------------------------------------------------------------------------------------


def evaluate(owner: Caller, *candidates: str, name: str = "") -> str:
    asked = {
        "language": "python",
        "name": name,
        "problems": [{"id": "<b>p", "tests": [{"stdin": "4", "expectedStdout": "4"}]}, {"id": "q", "tests": [{}]}],
        "candidates": [{"problemId": problem, "source": text} for problem in ("<b>p", "q") for text in candidates],
    }
    made = read(owner.post("/v1/evaluations", asked))
    return str(made["evaluationId"])


def test_an_evaluation_shows_its_progress_and_then_its_scores(owner: Caller, member: Client) -> None:
    pk = evaluate(owner, "a", "b", name="<i>nightly")
    waiting = get(member, f"/dashboard/evaluations/{pk}")
    assert "0 of 4 scored" in waiting
    assert 'hx-trigger="every 1s"' in waiting
    Workbench().run_all()
    page = get(member, f"/dashboard/evaluations/{pk}")
    assert "4 of 4 scored" in page
    assert "hx-trigger" not in page
    assert "<b>1.0000</b> pass@1" in page
    assert "&lt;i&gt;nightly" in get(member, "/dashboard/evaluations")
    assert "<i>nightly" not in page
    problem = get(member, f"/dashboard/evaluations/{pk}/problems/0")
    assert problem.count("/dashboard/runs/") == 2
    assert "&lt;b&gt;p" in problem
    get(member, f"/dashboard/evaluations/{pk}/problems/7", status=404)


def test_two_evaluations_are_compared(owner: Caller, member: Client) -> None:
    first, second = evaluate(owner, "a"), evaluate(owner, "b")
    Workbench().run_all()
    Execution.objects.filter(source="a", candidates__problem__name="q").update(passed=False, failure="wrong_output")
    page = get(member, f"/dashboard/evaluations/{first}/compare?with={second}")
    assert "solves 1 that the first does not, and does not solve 0" in page
    assert "<td>won</td>" in page
    for query in ("", "?with=x", "?with=00000000-0000-0000-0000-000000000000"):
        get(member, f"/dashboard/evaluations/{first}/compare{query}", status=404)


def test_a_batch_shows_where_it_stands(owner: Caller, member: Client) -> None:
    assert "No batch yet" in get(member, "/dashboard/batches")
    pk = read(owner.post("/v1/batches", {"executions": [PROGRAM, PROGRAM]}))["batchId"]
    assert 'hx-trigger="every 1s"' in get(member, f"/dashboard/batches/{pk}")
    Workbench().run_all()
    page = get(member, f"/dashboard/batches/{pk}")
    assert "FINISHED" in page
    assert "2 SUCCEEDED" in page
    assert pk in get(member, "/dashboard/batches")
    assert get(member, f"/dashboard/runs?batchId={pk}").count('class="pill SUCCEEDED"') == 2
    get(member, "/dashboard/batches?cursor=x", status=404)


def test_evaluations_and_batches_of_another_account_are_not_there(stranger: Caller, member: Client) -> None:
    evaluation = evaluate(stranger, "a")
    batch = read(stranger.post("/v1/batches", {"executions": [PROGRAM]}))["batchId"]
    for path in (f"evaluations/{evaluation}", f"evaluations/{evaluation}/problems/0", f"batches/{batch}"):
        get(member, f"/dashboard/{path}", status=404)


# --- Files, and once more --------------------------------------------------------------------------------------------


def test_the_history_is_exported_with_its_filters(owner: Caller, member: Client, workbench: Workbench) -> None:
    kept = [owner.submit(metadata={"model": "=cmd|' /C calc'!A0"})["executionId"] for _ in range(3)]
    owner.submit(language="cpp")
    workbench.run_all()
    response = member.get("/dashboard/runs/export/csv?language=python")
    assert response.headers["Content-Disposition"] == 'attachment; filename="runs.csv"'
    rows = list(csv.DictReader(StringIO(response.getvalue().decode())))
    assert {row["executionId"] for row in rows} == set(kept)
    assert {row["status"] for row in rows} == {"SUCCEEDED"}
    response = member.get("/dashboard/runs/export/jsonl?language=python")
    lines = [json.loads(line) for line in response.getvalue().splitlines()]
    assert [line["executionId"] for line in lines] == kept[::-1]
    assert member.get("/dashboard/runs/export/csv?language=x").status_code == 404
    assert member.get("/dashboard/runs/export/exe").status_code == 404


def test_no_cell_begins_a_formula() -> None:
    assert [export._cell(value) for value in ("=1", "+1", "-1", "@x", "\t=1", "x", -1, None)] == [
        "'=1",
        "'+1",
        "'-1",
        "'@x",
        "'\t=1",
        "x",
        "'-1",
        "",
    ]


def test_the_exact_bytes_are_downloaded_and_never_shown(owner: Caller, member: Client) -> None:
    raw = HOSTILE.encode() + b"\xff\0"
    pk = owner.submit(source="print('<b>')")["executionId"]
    Workbench(lambda fake, job: result(job, stdout=raw)).run_all()
    response = member.get(f"/dashboard/runs/{pk}/download/stdout")
    assert response.content == raw
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert response.headers["Content-Disposition"].startswith("attachment")
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert member.get(f"/dashboard/runs/{pk}/download/source").content == b"print('<b>')"
    assert member.get(f"/dashboard/runs/{pk}/download/fingerprint").status_code == 404
    assert member.get(f"/dashboard/runs/{uuid.UUID(int=0)}/download/stdout").status_code == 404


def test_a_run_is_run_again_as_it_was(owner: Caller, member: Client) -> None:
    first = owner.submit(source="it's mine", stdin="4\n", limits={"memoryMb": 99})["executionId"]
    Workbench().run_all()
    page = get(member, f"/dashboard/runs/{first}")
    assert "it&#x27;\\&#x27;&#x27;s mine" in page
    second = member.post(f"/dashboard/runs/{first}/again").headers["Location"].rpartition("/")[2]
    assert second != first
    shown = [read(owner.get(f"/v1/executions/{pk}/source")) for pk in (first, second)]
    assert shown[0] == shown[1]
    allow(monthly_runs=1)
    refused = member.post(f"/dashboard/runs/{first}/again")
    assert refused.status_code == 402
    assert "used up" in refused.content.decode()


def test_nothing_is_run_again_for_a_suspended_account(owner: Caller, member: Client) -> None:
    first = owner.submit()["executionId"]
    suspension.suspend(owner.account, by=None, reason="x")
    assert member.post(f"/dashboard/runs/{first}/again").status_code == 403
    assert Execution.objects.count() == 1


# --- The playground --------------------------------------------------------------------------------------------------


def test_a_program_is_tried_and_its_page_shows_what_came_of_it(owner: Caller, member: Client) -> None:
    assert "print(int(input()) ** 2)" in get(member, "/dashboard/playground")
    typed = {"language": "cpp", "source": "a\r\nb", "stdin": "4\r\n", "expected": "4"}
    run = member.post("/dashboard/playground/run", typed).headers["Location"]
    Workbench().run_all()
    assert "passed: yes" in get(member, run)
    made = Execution.objects.get()
    assert (made.language, made.source, bytes(made.stdin)) == ("cpp", "a\nb", b"4\n")


def test_what_is_refused_stays_typed(owner: Caller, member: Client) -> None:
    typed = {"language": "cobol", "source": "<b>mine", "stdin": "kept", "expected": ""}
    response = member.post("/dashboard/playground/run", typed)
    assert response.status_code == 400
    assert "language: " in response.content.decode()
    assert "&lt;b&gt;mine" in response.content.decode()
    allow(monthly_runs=0)
    response = member.post("/dashboard/playground/run", {**typed, "language": "python"})
    assert response.status_code == 402
    assert "kept" in response.content.decode()
    assert not Execution.objects.exists()


def test_a_suspended_account_tries_nothing(owner: Caller, member: Client) -> None:
    suspension.suspend(owner.account, by=None, reason="x")
    assert member.post("/dashboard/playground/run", {"language": "python", "source": "x"}).status_code == 403
    assert not Execution.objects.exists()


def test_a_program_is_coloured_and_still_harmless(owner: Caller, member: Client) -> None:
    pk = owner.submit(source="def f():\n    return '<script>'  # \u202e\n")["executionId"]
    page = get(member, f"/dashboard/runs/{pk}")
    assert '<span class="hl-k">def</span>' in page
    assert "&lt;script&gt;" in page
    assert "<script>" not in page.partition("<main")[2]
    assert "\u202e" not in page


def test_the_overview_draws_two_weeks_and_has_them_as_a_table(
    owner: Caller, member: Client, workbench: Workbench
) -> None:
    owner.submit()
    workbench.run_all()
    page = get(member, "/dashboard")
    assert page.count("<rect ") == 14
    assert '<td class="number">1</td>' in page
    assert 'height="100.0"' in page
