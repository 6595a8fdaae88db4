"""What a sandbox is seen from the host: whose process, under which limits, and that nothing of it is left."""

import contextlib
import os
import pwd
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import docker
import pytest

from sandbox.catalogue import catalogue
from sandbox.cgroup import Cgroup, is_unified
from sandbox.connect import connect_evaluator
from sandbox.docker import CONTAINER_ABOVE_WALL, LABEL_WORKER, Engine, Room
from sandbox.docker_evaluator import DockerEvaluator, room_for
from sandbox.errors import RunCancelled, SandboxLost, SandboxNotIsolated
from sandbox.evaluator import Cancellation
from sandbox.images import image_tag
from sandbox.job import Job, Limits, Program
from sandbox.verdict import Verdict

pytestmark = pytest.mark.real

T = TypeVar("T")

LIMITS = Limits(wall_time_ms=60_000, memory_mb=100, processes=40, disk_mb=32)
SLEEPER = Job(Program("python", "import time; time.sleep(60)"), limits=LIMITS)
IMAGE = image_tag(catalogue()["python"])
ROOM = Room(memory_mb=256, processes=64, box_mb=16)


@pytest.fixture(scope="module")
def client() -> Iterator[docker.DockerClient]:
    client = docker.DockerClient.from_env()
    yield client
    client.close()


@pytest.fixture
def running(evaluator: DockerEvaluator, client: docker.DockerClient) -> Iterator[dict[str, Any]]:
    """What the engine knows of the sandbox of an execution that is in the middle of its run."""
    cancellation = Cancellation()
    with ThreadPoolExecutor(max_workers=1) as pool:
        run = pool.submit(evaluator.evaluate, SLEEPER, cancellation)
        try:
            yield eventually(lambda: next(iter(in_use(evaluator, client)), None))
        finally:
            cancellation.cancel()
            with pytest.raises(RunCancelled):
                run.result(timeout=30)


def up(client: docker.DockerClient, worker: str) -> list[dict[str, Any]]:
    """The containers of a worker whose sandbox has its limits in force and its kernel at work."""
    found = []
    for container in client.api.containers(filters={"label": f"{LABEL_WORKER}={worker}", "status": "running"}):
        with contextlib.suppress(docker.errors.NotFound):
            seen = client.api.inspect_container(container["Id"])
            if sentries(seen):
                found.append(seen)
    return found


def in_use(evaluator: DockerEvaluator, client: docker.DockerClient) -> list[dict[str, Any]]:
    leased = {sandbox.name for sandbox in list(evaluator._pool._leased)}
    return [container for container in up(client, evaluator._engine.worker) if container["Name"].strip("/") in leased]


def has_only_unused(evaluator: DockerEvaluator, client: docker.DockerClient) -> bool:
    """Whether all that this evaluator has on the engine and in the host's cgroups has never run a program."""
    unused = {sandbox.name for ready in evaluator._pool._ready.values() for sandbox in list(ready)}
    engine = evaluator._engine
    there = {container["Names"][0].strip("/") for container in containers(client, engine.worker)}
    return there == unused == set(Cgroup(f"{engine._corner}/{engine.worker}").children())


def eventually(look: Callable[[], T | None], seconds: float = 30) -> T:
    """What `look` finds, as soon as it does."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)
    return found


def sentries(container: dict[str, Any]) -> list[int]:
    """Host processes that are the gVisor kernel of this container: those in its cgroup, by their name."""
    group = Cgroup(container["HostConfig"]["CgroupParent"])
    return [pid for pid in group.processes() if "runsc-sandbox" in read(f"/proc/{pid}/cmdline")]


def read(path: str) -> str:
    with contextlib.suppress(OSError):
        return Path(path).read_text(errors="replace")
    return ""


def test_the_kernel_of_a_running_sandbox_is_nobody_and_has_no_rights_on_the_host(running: dict[str, Any]) -> None:
    (sentry, *others) = sentries(running)
    for pid in (sentry, *others):
        status = dict(line.split(":\t", 1) for line in read(f"/proc/{pid}/status").splitlines() if ":\t" in line)
        nobody = pwd.getpwnam("nobody")
        assert set(status["Uid"].split()) == {str(nobody.pw_uid)}
        assert set(status["Gid"].split()) == {str(nobody.pw_gid)}
        assert int(status["CapEff"], 16) == 0
        assert int(status["CapPrm"], 16) == 0
        assert status["NoNewPrivs"] == "1"
        assert status["Seccomp"] == "2"  # gVisor's own filter of what its kernel may ask the host for
        assert Path(f"/proc/{pid}/ns/user").readlink() != Path("/proc/self/ns/user").readlink()
        assert Path(f"/proc/{pid}/ns/net").readlink() != Path("/proc/self/ns/net").readlink()


def test_the_real_cgroup_carries_the_limits_that_were_asked_for(running: dict[str, Any]) -> None:
    room = room_for(catalogue()["python"], SLEEPER.limits)
    wall = room.memory_mb << 20
    group = Cgroup(running["HostConfig"]["CgroupParent"])

    def in_force(name_v1: str, name_v2: str) -> str:
        return group.inner_limit(running["Id"], name_v1, name_v2)

    # A sandbox stands ready with room for usual limits, and gets those of its job with it.
    eventually(lambda: in_force("memory.limit_in_bytes", "memory.max") == str(wall + CONTAINER_ABOVE_WALL))
    assert group.inner_limit("", "memory.limit_in_bytes", "memory.max") == str(wall)
    assert int(in_force("pids.max", "pids.max")) == room.processes * ((os.cpu_count() or 1) + 2) + 100
    if is_unified():
        assert in_force("", "memory.swap.max") == "0"
        quota, period = in_force("", "cpu.max").split()
    else:
        with contextlib.suppress(FileNotFoundError):  # a kernel that does not account swap has none to give
            assert in_force("memory.memsw.limit_in_bytes", "") == str(wall + CONTAINER_ABOVE_WALL)
        quota, period = in_force("cpu.cfs_quota_us", ""), in_force("cpu.cfs_period_us", "")
    assert int(quota) == int(period), "one core"


def test_the_engine_was_told_to_give_nothing(running: dict[str, Any]) -> None:
    host = running["HostConfig"]
    assert host["Runtime"] == "codeforge-runsc"
    assert host["NetworkMode"] == "none"
    assert running["Config"]["NetworkDisabled"]
    assert host["CapDrop"] == ["ALL"]
    assert host["ReadonlyRootfs"]
    assert "no-new-privileges" in host["SecurityOpt"]
    assert not host["Privileged"]
    assert not host["Binds"]
    assert not host["Devices"]
    assert not host["PidMode"]
    assert host["IpcMode"] == "private"
    assert host["LogConfig"]["Type"] == "none"
    assert running["Mounts"] == []
    assert running["Config"]["Env"] in (None, [], ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"])
    assert SLEEPER.program.source not in str(running), "what a customer sent is nobody's business on the host"


def test_nothing_is_left_after_a_run(evaluator: DockerEvaluator, client: docker.DockerClient) -> None:
    for source in ("print(24)", "import os; os.kill(os.getpid(), 9)", "while True: os.fork()"):
        evaluator.evaluate(Job(Program("python", source), limits=LIMITS), Cancellation())
    eventually(lambda: has_only_unused(evaluator, client))


def test_nothing_at_all_is_left_after_the_end(client: docker.DockerClient) -> None:
    evaluator = connect_evaluator(worker=f"test-{uuid.uuid4().hex}", concurrency=1)
    evaluator.evaluate(Job(Program("python", "print(24)"), limits=LIMITS), Cancellation())
    evaluator.close()
    corner = Cgroup(f"{evaluator._engine._corner}/{evaluator._engine.worker}")
    assert containers(client, evaluator._engine.worker) == []
    assert corner.children() == []
    assert corner.processes() == set()


def test_a_run_that_still_goes_on_at_the_end_is_lost_and_leaves_nothing(client: docker.DockerClient) -> None:
    evaluator = connect_evaluator(worker=f"test-{uuid.uuid4().hex}", concurrency=1)
    with ThreadPoolExecutor(max_workers=1) as pool:
        run = pool.submit(evaluator.evaluate, SLEEPER, Cancellation())
        eventually(lambda: in_use(evaluator, client))
        evaluator.close()
        with pytest.raises(SandboxLost):
            run.result(timeout=30)
    assert containers(client, evaluator._engine.worker) == []


def test_nothing_is_left_after_a_run_that_is_cancelled(evaluator: DockerEvaluator, client: docker.DockerClient) -> None:
    cancellation = Cancellation()
    with ThreadPoolExecutor(max_workers=1) as pool:
        run = pool.submit(evaluator.evaluate, SLEEPER, cancellation)
        eventually(lambda: in_use(evaluator, client))
        started = time.monotonic()
        cancellation.cancel()
        with pytest.raises(RunCancelled):
            run.result(timeout=30)
    assert time.monotonic() - started < 10
    eventually(lambda: has_only_unused(evaluator, client))


# Starts a sandbox, says so, and waits to be killed.
HOLDER = f"""
import sys, time
from sandbox.docker import Engine, Room
engine = Engine(worker=sys.argv[1])
sandbox = engine.start({IMAGE!r}, Room(memory_mb=256, processes=64, box_mb=16))
print("up", flush=True)
time.sleep(300)
"""


def test_what_a_dead_worker_left_is_removed_and_what_a_living_one_has_is_not(
    evaluator: DockerEvaluator, client: docker.DockerClient
) -> None:
    dead = f"test-{uuid.uuid4().hex}"
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, dead], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == "up\n"
        group = Cgroup(f"{evaluator._engine._corner}/{dead}")
        assert group.processes()
        assert containers(client, dead)

        # As long as it lives, nobody touches it. Whoever else has sandboxes on this engine lives for this test as well.
        evaluator.remove_leftovers(lambda worker: True)
        assert containers(client, dead)
        assert group.processes()
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        holder.stdout.close()
    evaluator.remove_leftovers(lambda worker: worker != dead)
    assert not containers(client, dead)
    eventually(lambda: evaluator.remove_leftovers(lambda worker: worker != dead) == 0 and not group.children())
    assert group.processes() == set()
    assert dead not in Cgroup(evaluator._engine._corner).children()


def test_a_sandbox_ends_with_its_worker_even_if_nobody_clears_up(
    evaluator: DockerEvaluator, client: docker.DockerClient
) -> None:
    dead = f"test-{uuid.uuid4().hex}"
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, dead], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    with holder.stdout:
        holder.stdout.readline()
        holder.kill()
        holder.wait()
    try:
        eventually(lambda: not up(client, dead))
    finally:
        evaluator.remove_leftovers(lambda worker: worker != dead)


class Mislabelled(Engine):
    """An engine on which the name of gVisor stands for something else."""

    insecure = False


def test_a_runtime_that_is_not_gvisor_is_found_out_from_inside(client: docker.DockerClient) -> None:
    worker = f"test-{uuid.uuid4().hex}"
    engine = Mislabelled(worker=worker, runtime="runc")
    try:
        with pytest.raises(SandboxNotIsolated, match="is not gVisor"):
            engine.start(IMAGE, ROOM)
        assert not containers(client, worker)
    finally:
        engine.close()


def test_a_runtime_that_the_engine_does_not_know_is_refused() -> None:
    engine = Mislabelled(worker=f"test-{uuid.uuid4().hex}", runtime="codeforge-none")
    try:
        with pytest.raises(SandboxNotIsolated, match="no runtime named"):
            engine.check_runtime()
    finally:
        engine.close()


def test_a_runtime_without_the_arguments_that_we_rely_on_is_refused() -> None:
    engine = Mislabelled(worker=f"test-{uuid.uuid4().hex}", runtime="runc")
    try:
        with pytest.raises(SandboxNotIsolated, match="arguments missing"):
            engine.check_runtime()
    finally:
        engine.close()


def test_many_runs_leave_no_descriptor_and_no_thread_in_the_worker(evaluator: DockerEvaluator) -> None:
    hello = Job(Program("python", "print(24)"), limits=LIMITS)

    def held() -> tuple[int, int]:
        standing = sum(state["ready"] + state["starting"] for state in evaluator.pool_state().values())
        return len(list(Path("/proc/self/fd").iterdir())) - standing, threading.active_count()

    assert evaluator.evaluate(hello, Cancellation()).verdict is Verdict.SUCCEEDED
    before = held()
    for _ in range(4):
        evaluator.evaluate(hello, Cancellation())
    eventually(lambda: all(now <= then + 2 for now, then in zip(held(), before, strict=True)))


def containers(client: docker.DockerClient, worker: str) -> list[Any]:
    return list(client.api.containers(all=True, filters={"label": f"{LABEL_WORKER}={worker}"}))
