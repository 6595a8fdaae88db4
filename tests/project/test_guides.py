"""The guides: each opens, each link in them leads somewhere, and every sample is run as it is shown."""

import html
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from accounts.models import Account, ApiKey, User
from codeforge.errors import codes
from codeforge.guides import GUIDES
from tests.accounts.people import person, signed_in
from tests.cast import Caller, allow
from tests.worker_process import Process

CLIENT = Path(__file__).parents[2] / "clients" / "python" / "src"
RUN_BY = {"python": [sys.executable, "-c"], "sh": ["bash", "-ec"], "javascript": ["node", "-e"]}


def samples(slug: str) -> list[tuple[str, str]]:
    """(language, text) of each sample of a guide that can be run."""
    page = Client().get(f"/docs/guides/{slug}").content.decode()
    found = re.findall(r'<pre data-run="(\w+)"><code>(.*?)</code></pre>', page, re.DOTALL)
    return [(language, html.unescape(text)) for language, text in found]


@pytest.mark.parametrize("slug", GUIDES)
def test_a_guide_opens(slug: str) -> None:
    response = Client().get(f"/docs/guides/{slug}")
    assert response.status_code == 200
    assert f"<h1>{html.escape(GUIDES[slug])}</h1>" in response.content.decode()
    assert "<script" not in response.content.decode()


def test_what_is_no_guide_is_not_found() -> None:
    assert Client().get("/docs/guides/base").status_code == 404
    assert Client().get("/docs/guides/nothing").status_code == 404


@pytest.fixture
def sandboxed(tmp_path: Path, transactional_db: None) -> Iterator[Process]:
    process = Process(tmp_path / "worker.log", concurrency=2, app="codeforge")
    yield process
    process.process.terminate()
    process.process.wait(timeout=60)


@pytest.mark.real
@pytest.mark.django_db(transaction=True)
def test_every_sample_does_what_its_guide_says(owner: Caller, live_server: LiveServer, sandboxed: Process) -> None:
    allow(monthly_runs=None)
    environment = {
        **os.environ,
        "CODEFORGE_URL": live_server.url,
        "CODEFORGE_API_KEY": owner.key,
        "PYTHONPATH": str(CLIENT),
    }
    said: dict[str, list[str]] = {}
    for slug in GUIDES:
        for language, text in samples(slug):
            done = subprocess.run(
                [*RUN_BY[language], text], env=environment, cwd="/", capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, f"{slug}: {done.stderr}\n{sandboxed.said()}"
            said.setdefault(slug, []).append(done.stdout)
    assert '"stdout":"42\\n"' in said["quickstart"][0]
    assert said["quickstart"][1:] == ["2 of 3 passed\n", "1 passed\n"]
    assert '"testsPassed":2' in said["verdicts"][0]
    assert '"limitExceeded":"cpuTime"' in said["limits"][0]
    assert '"passAtK":{"1":{"value":0.5' in said["pass-at-k"][0]


def links_of(page: str) -> set[str]:
    return {link for link in re.findall(r'(?:href|src|action)="([^"]+)"', page) if link.startswith("/")}


@pytest.mark.django_db(transaction=True)
def test_no_link_of_ours_is_dead() -> None:
    """From the first page and from the dashboard, through everything that can be reached."""
    client = signed_in(person("member@example.com", Account.objects.create(name="A")))
    seen: set[str] = set()
    waiting = ["/", "/dashboard"]
    while waiting:
        path = waiting.pop().partition("#")[0]
        if path in seen or path.startswith("/sign-out"):
            continue
        seen.add(path)
        response = client.get(path, follow=True)
        # What only takes a form says so.
        assert response.status_code in {200, 405}, path
        if "text/html" in response.headers.get("Content-Type", ""):
            waiting += links_of(response.content.decode())
        response.close()
    assert {"/docs/guides/quickstart", "/dashboard/keys", "/pricing", "/status", "/v1/runtimes"} <= seen
    assert {f"/docs/errors/{code}" for code in codes()} <= seen
    assert User.objects.count() == 1
    assert not ApiKey.objects.exists()
