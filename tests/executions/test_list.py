from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from executions.models import INPUTS, OUTPUTS, Execution
from tests.cast import Caller, Workbench, fields, read, refused

pytestmark = pytest.mark.django_db(transaction=True)


def listed(caller: Caller, query: str = "") -> list[str]:
    return [row["executionId"] for row in read(caller.get(f"/v1/executions{query}"))["data"]]


def test_the_newest_come_first_without_programs_and_outputs(owner: Caller, workbench: Workbench) -> None:
    ids = [owner.submit()["executionId"] for _ in range(3)]
    workbench.run_all()

    page = read(owner.get("/v1/executions"))

    assert [row["executionId"] for row in page["data"]] == ids[::-1]
    assert page["nextCursor"] is None
    assert {"source", "stdin", "stdout", "stderr", "outputLossy"}.isdisjoint(page["data"][0])
    assert page["data"][0]["stdoutBytes"] == 2


def test_programs_and_outputs_are_not_even_loaded(owner: Caller) -> None:
    owner.submit()
    with CaptureQueriesContext(connection) as queries:
        owner.get("/v1/executions")
    (statement,) = [query["sql"] for query in queries if "ORDER BY" in query["sql"] and "LIMIT 51" in query["sql"]]
    for blob in (*INPUTS, *OUTPUTS):
        assert f'"{blob}"' not in statement


def test_pages_neither_skip_nor_repeat_while_new_ones_come(owner: Caller) -> None:
    ids = [owner.submit()["executionId"] for _ in range(7)]
    # Same microsecond: the id decides.
    Execution.objects.filter(pk__in=ids[2:5]).update(created_at=Execution.objects.get(pk=ids[3]).created_at)
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = read(owner.get(f"/v1/executions?limit=2{f'&cursor={quote(cursor)}' if cursor else ''}"))
        seen += [row["executionId"] for row in page["data"]]
        cursor = page["nextCursor"]
        owner.submit()
    assert len(seen) == 7
    assert set(seen) == set(ids)


def test_filters_narrow_it_down(owner: Caller, workbench: Workbench) -> None:
    a = owner.submit(metadata={"suite": "x", "n": "1"})["executionId"]
    b = owner.submit(language="cpp", metadata={"suite": "x", "n": "2"})["executionId"]
    workbench.run(a)

    assert listed(owner, "?status=SUCCEEDED") == [a]
    assert listed(owner, "?status=QUEUED") == [b]
    assert listed(owner, "?language=cpp") == [b]
    assert listed(owner, "?metadata[suite]=x") == [b, a]
    assert listed(owner, "?metadata[suite]=x&metadata[n]=1") == [a]
    assert listed(owner, "?metadata[suite]=y") == []
    assert listed(owner, "?metadata[suite__contains]=x") == []
    assert listed(owner, "?status=SUCCEEDED&language=cpp") == []


def test_times_narrow_it_down(owner: Caller) -> None:
    ids = [owner.submit()["executionId"] for _ in range(3)]
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for index, pk in enumerate(ids):
        Execution.objects.filter(pk=pk).update(created_at=start + timedelta(days=index))

    assert listed(owner, "?createdAfter=2026-01-01T00:00:00Z") == [ids[2], ids[1]]
    assert listed(owner, "?createdBefore=2026-01-02T00:00:00%2B00:00") == [ids[0]]
    assert listed(owner, "?createdAfter=2026-01-01T00:00:00Z&createdBefore=2026-01-03T00:00:00Z") == [ids[1]]


FAULTS = {
    "status=DONE": "status",
    "status=": "status",
    "status=QUEUED&status=RUNNING": "status",
    "language=cobol": "language",
    "limit=0": "limit",
    "limit=201": "limit",
    "limit=x": "limit",
    "limit=": "limit",
    "limit=-1": "limit",
    "limit=1.5": "limit",
    "limit=١": "limit",
    "createdAfter=yesterday": "createdAfter",
    "createdAfter=2026-11-30": "createdAfter",
    "createdAfter=2026-11-30T10:00:00": "createdAfter",
    "createdAfter=2026-13-30T10:00:00Z": "createdAfter",
    "createdBefore=0001-01-01T00:00:00%2B14:00": "createdBefore",
    "cursor=": "cursor",
    "cursor=x": "cursor",
    "cursor=%FF": "cursor",
    "cursor=é": "cursor",
    "cursor=" + "A" * 32: None,
    "cursor=" + "_" * 32: None,
    "cursor=f" + "_" * 31: "cursor",
    "cursor=" + "A" * 5000: "cursor",
    "metadata[a]=%00": "metadata[a]",
    "metadata[a]=1&metadata[a]=2": "metadata[a]",
    "metadata[]=1": "metadata[]",
    "metadata=1": "metadata",
    "account=1": "account",
    "account_id=1": "account_id",
    "offset=3": "offset",
    "batchId=x": "batchId",
    "__proto__=1": "__proto__",
}


@pytest.mark.parametrize("query", FAULTS)
def test_a_wrong_parameter_is_refused_and_named(owner: Caller, query: str) -> None:
    response = owner.get(f"/v1/executions?{query}")
    if FAULTS[query] is None:
        assert response.status_code == 200
    else:
        assert fields(refused(response, 400, "invalid_request")) == [FAULTS[query]]


def test_another_accounts_cursor_shows_nothing_of_that_account(owner: Caller, stranger: Caller) -> None:
    for _ in range(3):
        owner.submit()
    cursor = read(owner.get("/v1/executions?limit=1"))["nextCursor"]
    mine = stranger.submit()["executionId"]
    assert listed(stranger, f"?cursor={quote(cursor)}") == []
    assert listed(stranger) == [mine]


def test_a_long_list_is_read_from_its_index(owner: Caller) -> None:
    made = [Execution(account=owner.account, limits={}, source="x") for _ in range(2_000)]
    Execution.objects.bulk_create(made)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE executions_execution")
        cursor.execute(
            "EXPLAIN SELECT id FROM executions_execution WHERE account_id = %s AND erased_at IS NULL "
            "AND created_at <= now() ORDER BY created_at DESC, id DESC LIMIT 51",
            [owner.account.pk],
        )
        plan = "\n".join(row[0] for row in cursor.fetchall())
    # "Only", when autovacuum has been here meanwhile.
    assert "Index Scan using execution_" in plan or "Index Only Scan using execution_" in plan
    assert "Sort" not in plan
