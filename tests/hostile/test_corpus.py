"""The whole corpus against the real thing, in both isolations: what comes of each attack, its neighbours, and us."""

import contextlib
import gc
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import docker
import pytest

from sandbox.cgroup import Cgroup
from sandbox.connect import connect_evaluator
from sandbox.docker import LABEL_WORKER, Sandbox
from sandbox.docker_evaluator import DockerEvaluator
from sandbox.errors import SandboxError
from sandbox.evaluator import Cancellation
from sandbox.job import Isolation, Job, Limits, Program
from tests.hostile.corpus import Attack, attacks

pytestmark = pytest.mark.real

AT_ONCE = 2
LOOKS = """
import os
seen = [sorted(os.listdir(place)) for place in ("/work", "/tmp", "/dev/shm", "/run/report")]
print(seen, sorted(name for name in os.listdir("/proc") if name.isdigit()), sum(range(1000)))
"""
CLEAN = b"[['main.py'], [], [], []] ['1', '2'] 499500\n"
ROOMY = Limits(wall_time_ms=30_000, cpu_time_ms=10_000)
REMOVAL_S = 120  # an engine that is busy was seen to need a minute


@pytest.fixture
def owners(monkeypatch: pytest.MonkeyPatch) -> dict[str, set[str]]:
    """Filled while the test runs: the accounts that each sandbox was given to."""
    owners: dict[str, set[str]] = defaultdict(set)
    claim_for = Sandbox.claim_for

    def watched(self: Sandbox, account: str) -> None:
        claim_for(self, account)
        owners[self.name].add(account)

    monkeypatch.setattr(Sandbox, "claim_for", watched)
    return owners


@pytest.mark.parametrize("isolation", list(Isolation))
def test_every_attack_ends_as_it_must_its_neighbours_notice_nothing_and_nothing_is_left(
    isolation: Isolation, owners: dict[str, set[str]]
) -> None:
    worker = f"hostile-{uuid.uuid4().hex}"
    before = set(held())
    evaluator = connect_evaluator(worker=worker, concurrency=AT_ONCE)
    corner = Cgroup(f"{evaluator._engine._corner}/{worker}")
    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            # A neighbour that keeps its sandbox costs next to nothing; where it has a new one, it looks now and then.
            every = 1 if isolation is Isolation.ACCOUNT else 6
            runs = [
                pool.submit(attacked, evaluator, attack, isolation, look=number % every == 0)
                for number, attack in enumerate(attacks())
            ]
            faults = [fault for run in runs for fault in run.result()]
    finally:
        evaluator.close()
    assert not faults, "\n".join(faults)
    assert set().union(*owners.values()) == {"hostile", "neighbour"}
    assert all(len(accounts) == 1 for accounts in owners.values()), "a sandbox of two accounts"

    with contextlib.closing(docker.DockerClient.from_env()) as client:
        eventually(lambda: client.api.containers(all=True, filters={"label": f"{LABEL_WORKER}={worker}"}))
    eventually(corner.processes)
    eventually(corner.children)
    eventually(lambda: set(held()) - before)


def attacked(evaluator: DockerEvaluator, attack: Attack, isolation: Isolation, *, look: bool) -> list[str]:
    """What was wrong with an attack's result, or with that of a harmless program of somebody else right behind it."""
    faults = []
    try:
        result = evaluator.evaluate(attack.job("hostile", isolation), Cancellation())
        seen = f"{result.usage}, {result.stderr.content[-300:]!r}"
        faults = [f"{attack.name}: {fault}; {seen}" for fault in attack.faults_of(result)]
    except SandboxError as error:
        faults.append(f"{attack.name}: was called our failure: {type(error).__name__}: {error}")
    if look:
        looks = Job(Program("python", LOOKS), limits=ROOMY, account="neighbour", isolation=isolation)
        after = evaluator.evaluate(looks, Cancellation())
        if after.stdout.content != CLEAN or after.stderr.total:
            faults.append(f"behind {attack.name}: {after.verdict}, {after.stdout.content!r} {after.stderr.content!r}")
    return faults


def held() -> list[str]:
    """Threads and descriptors of this process, by what they are."""
    gc.collect()  # a connection that broke is closed when the exception that told of it is gone
    descriptors = []
    for path in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            descriptors.append(str(path.readlink()))
    return [*(thread.name for thread in threading.enumerate()), *descriptors]


def eventually(left: Callable[[], Collection[object]]) -> None:
    """Wait until nothing is left."""
    deadline = time.monotonic() + REMOVAL_S
    while still := left():
        assert time.monotonic() < deadline, f"still there: {still}"
        time.sleep(0.05)
