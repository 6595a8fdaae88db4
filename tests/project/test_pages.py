from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "path", ["/", "/docs", "/docs/api", "/docs/errors", "/docs/errors/queue_full", "/pricing", "/status"]
)
def test_a_page_opens_and_is_guarded(path: str) -> None:
    response = Client().get(path)
    assert response.status_code == 200
    assert response.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert response.headers["X-Frame-Options"] == "DENY"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["X-Request-Id"]
    assert "<script" not in response.content.decode()


def test_the_first_page_leads_to_the_reference() -> None:
    page = Client().get("/").content.decode()
    assert 'href="/docs/api"' in page
    assert 'href="/v1/openapi.json"' in page
    assert Client().get("/admin").headers["Location"] == "/admin/"


def test_the_stylesheet_is_served_without_a_step_of_collecting() -> None:
    response = Client().get("/static/codeforge.css")
    assert response.status_code == 200
    assert b"color-scheme" in b"".join(response.streaming_content)  # type: ignore[attr-defined]
    response.close()


def test_health_says_whether_the_database_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Client().get("/healthz").json() == {"status": "ok"}

    def fail(*args: Any) -> None:
        raise OperationalError("down")

    monkeypatch.setattr(connection, "cursor", fail)
    response = Client().get("/healthz")
    assert (response.status_code, response.json()) == (503, {"status": "unavailable"})


def test_answers_of_the_api_are_not_kept_by_caches() -> None:
    assert Client().get("/v1/runtimes").headers["Cache-Control"] == "no-store"
