"""`GET /metrics`."""

import uuid
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from executions import lifecycle
from executions.models import Execution, Worker
from tests.cast import Caller, Workbench, allow

pytestmark = pytest.mark.django_db

TOKEN = "a token for the scraper"


def scrape(authorization: str = f"Bearer {TOKEN}") -> Any:
    return Client().get("/metrics", headers={"Authorization": authorization})


def test_executions_and_the_sandboxes_of_living_workers_are_told(owner: Caller, settings: Any) -> None:
    settings.CODEFORGE_METRICS_TOKEN = TOKEN
    owner.submit()
    workbench = Workbench()
    Worker.objects.filter(pk=workbench.resident.id).update(pool={"python": {"ready": 2, "inUse": 1}})
    text = scrape().content.decode()
    assert 'codeforge_executions{status="QUEUED"} 1.0' in text
    assert 'codeforge_executions{status="RUNNING"} 0.0' in text
    assert "codeforge_workers 1.0" in text
    assert f'codeforge_sandboxes{{language="python",state="ready",worker="{workbench.resident.id}"}} 2.0' in text


def test_what_is_finished_is_not_looked_at(owner: Caller, settings: Any) -> None:
    settings.CODEFORGE_METRICS_TOKEN = TOKEN
    allow(max_concurrency=2)
    for _ in range(3):
        owner.submit()
    first = Execution.objects.exclude(admitted_at=None).earliest("created_at")
    assert lifecycle.claim(first.pk, worker_id=uuid.uuid4())
    with CaptureQueriesContext(connection) as made:
        text = scrape().content.decode()
    assert 'codeforge_executions{status="QUEUED"} 2.0' in text
    assert 'codeforge_executions{status="RUNNING"} 1.0' in text
    assert "codeforge_executions_without_slot 1.0" in text
    (count,) = [query["sql"] for query in made if '"executions_execution"' in query["sql"]]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {count}")
        assert "Seq Scan" not in "".join(line for (line,) in cursor.fetchall())


@pytest.mark.parametrize("authorization", ["", "Bearer wrong", TOKEN, "Bearer é"])
def test_whoever_does_not_know_the_token_finds_nothing(authorization: str, settings: Any) -> None:
    settings.CODEFORGE_METRICS_TOKEN = TOKEN
    assert scrape(authorization).status_code == 404


def test_without_a_token_in_the_settings_nobody_reads_it(settings: Any) -> None:
    settings.CODEFORGE_METRICS_TOKEN = ""
    assert scrape("Bearer ").status_code == 404
