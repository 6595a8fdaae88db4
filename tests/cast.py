"""Who acts in the tests."""

import json
import os
import socket
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import redis
from django.conf import settings
from django.db import connection
from django.http import HttpResponse
from django.test import Client

from accounts.keys import make_key
from accounts.models import Account, Override
from executions import runner
from executions.models import Execution, Status, Worker
from executions.worker import Resident, _pid_started, _realm
from sandbox.fake import FakeEvaluator
from sandbox.job import Job
from sandbox.result import Result

PROGRAM: Mapping[str, Any] = {"language": "python", "source": "print(input())", "stdin": "4\n"}


@dataclass
class Caller:
    """Somebody who calls the API over HTTP. A visitor has neither account nor key."""

    account: Account
    key: str

    @classmethod
    def with_account(cls, name: str, **numbers: int | None) -> "Caller":
        account = Account.objects.create(name=name)
        allow(account, **numbers)
        _, secret = make_key(account=account, name="tests")
        return cls(account, secret)

    def request(
        self, method: str, path: str, body: bytes = b"", content_type: str = "application/json", **headers: str
    ) -> HttpResponse:
        authorization = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        client = Client(raise_request_exception=False)
        return client.generic(method, path, body, content_type=content_type, headers={**authorization, **named})  # type: ignore[return-value]

    def get(self, path: str, **headers: str) -> HttpResponse:
        return self.request("GET", path, b"", **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        return self.request("POST", path, b"" if body is None else json.dumps(body).encode(), **headers)

    def delete(self, path: str, **headers: str) -> HttpResponse:
        return self.request("DELETE", path, b"", **headers)

    def submit(self, *, wait: float = 0, key: str | None = None, **changes: Any) -> dict[str, Any]:
        """Submit a program that is accepted, and give the execution."""
        headers = {"Idempotency_Key": key} if key else {}
        response = self.post(f"/v1/executions?wait={wait}", {**PROGRAM, **changes}, **headers)
        assert response.status_code in {200, 202}, response.content
        shown: dict[str, Any] = json.loads(response.content)
        return shown

    def look(self, execution_id: str, query: str = "") -> dict[str, Any]:
        response = self.get(f"/v1/executions/{execution_id}{query}")
        assert response.status_code == 200, response.content
        shown: dict[str, Any] = json.loads(response.content)
        return shown


class Workbench:
    """A worker's resident with a `FakeEvaluator`. ``script`` says what becomes of a job."""

    def __init__(self, script: Callable[[FakeEvaluator, Job], Result] | None = None) -> None:
        self.fake = FakeEvaluator(script)
        self.resident = make_resident(self.fake)
        self.resident.register_runtimes()

    def run(self, execution_id: str | uuid.UUID) -> None:
        """What the worker does with a message."""
        runner.run(uuid.UUID(str(execution_id)), resident=self.resident)

    def run_all(self) -> None:
        """Run until nothing that was admitted is left."""
        while admitted := list(Execution.objects.filter(status=Status.QUEUED, admitted_at__isnull=False)):
            for execution in admitted:
                self.run(execution.pk)


def make_resident(evaluator: FakeEvaluator, **fields: Any) -> Resident:
    """A resident that is not started: no keeper, no listener."""
    own = {"pid": os.getpid(), "pid_started": _pid_started(os.getpid()), "realm": _realm(), "concurrency": 4}
    return Resident(evaluator, worker=Worker.objects.create(host=socket.gethostname(), **(own | fields)))


class Broker:
    """The tests' own corner of Redis."""

    def __init__(self) -> None:
        self._client = redis.Redis.from_url(settings.REDIS_URL)
        self._prefix = f"{settings.TESTS_NAMES}:"

    def waiting(self) -> int:
        """Messages that no worker has taken."""
        queues = [key for key in self._keys() if key[len(self._prefix) :].startswith(b"executions.")]
        return sum(int(self._client.llen(queue)) for queue in queues)

    def forget_everything(self) -> None:
        """What FLUSHALL does, to nobody else."""
        if keys := self._keys():
            self._client.delete(*keys)

    def close(self) -> None:
        self.forget_everything()
        self._client.close()

    def _keys(self) -> list[bytes]:
        return list(self._client.scan_iter(match=self._prefix + "*", count=1_000))


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Start all calls at the same moment, each in a thread with a database connection of its own."""
    barrier = threading.Barrier(len(calls))

    def start(call: Callable[[], Any]) -> Any:
        try:
            barrier.wait(timeout=30)
            return call()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(start, calls))


def allow(*accounts: Account, **numbers: int | None) -> None:
    """Change numbers of the plan for these accounts, or for all: `allow(monthly_runs=2)`."""
    for account in accounts or Account.objects.all():
        for name, value in numbers.items():
            Override.objects.update_or_create(
                account=account, name=name, defaults={"value": value, "reason": "tests", "expires_at": None}
            )


def read(response: HttpResponse) -> Any:
    return json.loads(response.content)


def refused(response: HttpResponse, status: int, code: str) -> dict[str, Any]:
    """The problem of a refusal, after a look at its shape."""
    assert response.headers["Content-Type"] == "application/problem+json", response.content[:300]
    problem: dict[str, Any] = json.loads(response.content)
    assert (problem["status"], response.status_code, problem["code"]) == (status, status, code), problem
    assert problem["type"].endswith(f"/docs/errors/{code}")
    assert problem["title"]
    assert problem["detail"]
    assert problem["requestId"] == response.headers["X-Request-Id"]
    return problem


def fields(problem: Mapping[str, Any]) -> list[str]:
    """The paths of the wrong fields."""
    return [error["field"] for error in problem["errors"]]
