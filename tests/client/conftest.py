"""The client against the real server: HTTP, database, broker, a worker process. Only the programs are not run."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from tests.cast import Caller, allow
from tests.worker_process import Process


@pytest.fixture
def worker(tmp_path: Path, transactional_db: None) -> Iterator[Process]:
    process = Process(tmp_path / "worker.log", concurrency=4)
    yield process
    process.stop()


@pytest.fixture
def served(live_server: LiveServer, owner: Caller, monkeypatch: pytest.MonkeyPatch) -> Caller:
    """The account whose key is in the environment, as the client finds it there."""
    allow(monthly_runs=None, max_concurrency=20, max_queued=None)
    monkeypatch.setenv("CODEFORGE_URL", live_server.url)
    monkeypatch.setenv("CODEFORGE_API_KEY", owner.key)
    return owner
