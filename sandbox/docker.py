"""One sandbox is one Docker container under gVisor. The only module that knows Docker.

Theory of operation
-------------------
`Engine.start` makes a cgroup (see `sandbox.cgroup`), creates the container with every restriction there is, attaches to
its stdin and stdout, starts it and waits for the supervisor's hello. From then on `Sandbox.send` and `Sandbox.receive`
speak frames with the supervisor. `Sandbox.remove` ends it, whatever state it is in.

Nothing depends on Docker's own story of how a container ended: it may be late, lost or wrong. What counts is the
supervisor's report, and, when that does not come, the cgroup's counters and our own clock.

What ends a sandbox: `remove`; the end of the worker (the engine closes the container's stdin, the supervisor reads end
of file and ends); `Engine.remove_leftovers` for what a dead worker left. Containers carry their worker's name as a
label and their sandbox's name as their own, and the cgroup carries it too, so that processes that the engine has
forgotten are found as well.
"""

import contextlib
import hashlib
import logging
import os
import re
import signal
import socket
import struct
import subprocess
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
import docker.errors
import requests.exceptions
import urllib3.exceptions

from sandbox.cgroup import Cgroup
from sandbox.errors import (
    EngineUnavailable,
    ImageMissing,
    ProtocolViolated,
    SandboxError,
    SandboxLost,
    SandboxNotIsolated,
    SandboxStartFailed,
)
from sandbox.protocol import FrameReader, FrameType, encode_frame, parse_lines

logger = logging.getLogger(__name__)

GVISOR = "codeforge-runsc"  # the runtime's name in the engine's configuration
LABEL_WORKER = "codeforge.worker"
CGROUP_TOP = "/codeforge"

# Without these the sandbox is weaker than we promise: the engine's configuration must hold them.
REQUIRED_RUNTIME_ARGS = {"--network=none", "--directfs=false", "--host-uds=none"}
FORBIDDEN_RUNTIME_ARGS = ("--debug", "--strace", "--network=host", "--network=sandbox", "--allow-flag-override")
OLDEST_GVISOR = 2023  # earlier ones were seen to crash on a fork bomb

# What the supervisor needs toward gVisor's kernel; toward the host these mean nothing, which is why the worker makes
# sure that it is gVisor before any program comes in.
CAPABILITIES = ["SYS_ADMIN", "SETUID", "SETGID", "KILL", "CHOWN", "FOWNER", "DAC_OVERRIDE"]

START_TIMEOUT_S = 60
CALL_TIMEOUT_S = 60
PING_TIMEOUT_S = 5
# An engine that is busy refuses to remove what it is just starting or removing.
REMOVAL_PAUSES_S = (0.1, 1, 5, 15)
CGROUP_PAUSES_S = (0.01, 0.1, 1, 3)
FIRST_UID = 60_000
CONTAINER_ABOVE_WALL = 8 << 20  # how much more memory the container's own cgroup allows than the wall around it


@contextlib.contextmanager
def _translated(otherwise: type[SandboxError]) -> Iterator[None]:
    """The one place where foreign exceptions become ours. `StreamParseError` is no `DockerException`, and socket
    errors come through bare from an attached stream."""
    try:
        yield
    except docker.errors.ImageNotFound as error:
        raise ImageMissing(str(error)) from error
    except (requests.exceptions.ConnectionError, requests.exceptions.Timeout) as error:
        raise EngineUnavailable(str(error)) from error
    except (
        docker.errors.DockerException,
        docker.errors.StreamParseError,
        requests.exceptions.RequestException,
        urllib3.exceptions.HTTPError,
        OSError,
        ValueError,
    ) as error:
        raise otherwise(f"{type(error).__name__}: {error}") from error


@dataclass(frozen=True, slots=True)
class Room:
    """How large a sandbox is. Its cells are limited within it."""

    memory_mb: int
    processes: int
    box_mb: int  # the supervisor's staging area


class Engine:
    """A Docker engine on this host, found by DOCKER_HOST."""

    def __init__(self, *, worker: str, runtime: str = GVISOR) -> None:
        """``worker``: a name that no other worker of this engine has. Raises `EngineUnavailable`."""
        self.worker = worker
        self.runtime = runtime
        with _translated(EngineUnavailable):
            self._client = docker.DockerClient.from_env(timeout=CALL_TIMEOUT_S, max_pool_size=64)
            # Engines on one host share its cgroups: each has a corner of its own there.
            self._corner = f"{CGROUP_TOP}/{hashlib.sha256(self._client.info()['ID'].encode()).hexdigest()[:12]}"

    @property
    def insecure(self) -> bool:
        return self.runtime != GVISOR

    def check_runtime(self) -> str:
        """Make sure that the engine runs our sandboxes as we promise; returns gVisor's version.

        Raises `SandboxNotIsolated`. What really runs inside is probed again in every sandbox, see `Engine.start`.
        """
        if self.insecure:
            return "none"
        with _translated(EngineUnavailable):
            info = self._client.info()
        if info.get("CgroupDriver") != "cgroupfs":
            raise SandboxNotIsolated(
                f"the Docker engine's cgroup driver is {info.get('CgroupDriver')}, and sandboxes need cgroupfs: set "
                '"exec-opts": ["native.cgroupdriver=cgroupfs"] in its configuration'
            )
        runtime = info.get("Runtimes", {}).get(self.runtime)
        if runtime is None:
            raise SandboxNotIsolated(
                f"the Docker engine has no runtime named {self.runtime}: `make up` starts one that has"
            )
        args = set(runtime.get("runtimeArgs") or [])
        missing = REQUIRED_RUNTIME_ARGS - args
        forbidden = [arg for arg in args if arg.startswith(FORBIDDEN_RUNTIME_ARGS)]
        if missing or forbidden:
            raise SandboxNotIsolated(
                f"runtime {self.runtime}: arguments missing {sorted(missing)}, forbidden {forbidden}"
            )
        return _gvisor_version(runtime["path"])

    def digest(self, tag: str) -> str:
        """The image's digest. Raises `ImageMissing`."""
        with _translated(EngineUnavailable):
            return str(self._client.images.get(tag).id)

    def build(self, folder: Path, tag: str, arguments: dict[str, str], on_line: Callable[[str], None]) -> None:
        """Build one image. Raises `SandboxError` with the last lines of the build when it fails."""
        lines: deque[str] = deque(maxlen=20)
        with _translated(SandboxError):
            stream = self._client.api.build(
                path=str(folder), tag=tag, buildargs=arguments, rm=True, forcerm=True, decode=True, network_mode="host",
                timeout=1_800,
            )  # fmt: skip
            for event in stream:
                text = str(event.get("stream", event.get("error", ""))).strip()
                if text:
                    lines.append(text)
                    on_line(text)
                if "error" in event:
                    raise SandboxError(f"building {tag} failed:\n" + "\n".join(lines))

    def start(self, image: str, room: Room) -> "Sandbox":
        """A sandbox whose supervisor is ready. ``image`` is a digest or tag.

        Raises `SandboxStartFailed`, `ImageMissing`, `EngineUnavailable`; `SandboxNotIsolated` when it is not what was
        asked for, seen from inside and from outside.
        """
        name = f"codeforge-{uuid.uuid4().hex}"
        wall = room.memory_mb << 20
        cgroup = None if self.insecure else Cgroup.make(f"{self._corner}/{self.worker}/{name}", memory_bytes=wall)
        sandbox = Sandbox(self._client, name, cgroup)
        try:
            with _translated(SandboxStartFailed):
                sandbox.create(image, self._configuration(room, cgroup), {LABEL_WORKER: self.worker})
            hello = sandbox.await_hello(time.monotonic() + START_TIMEOUT_S)
            if not self.insecure:
                _require_gvisor(hello)
                with _translated(SandboxNotIsolated):
                    sandbox.require_limits(wall + CONTAINER_ABOVE_WALL)
        except BaseException:
            sandbox.remove()
            raise
        return sandbox

    def _configuration(self, room: Room, cgroup: Cgroup | None) -> dict[str, Any]:
        memory = (room.memory_mb << 20) + CONTAINER_ABOVE_WALL
        configuration: dict[str, Any] = dict(  # noqa: C408  keyword arguments of `create_host_config`
            runtime=self.runtime,
            network_mode="none",
            cap_drop=["ALL"],
            cap_add=CAPABILITIES,
            security_opt=["no-new-privileges"],
            read_only=True,
            mem_limit=memory,
            memswap_limit=memory,
            nano_cpus=1_000_000_000,
            # Host threads of gVisor, not processes of the program: reaching this would crash the sandbox.
            pids_limit=room.processes * ((os.cpu_count() or 1) + 2) + 100,
            # A /tmp is always named: gVisor would make one of half the host's memory. Cells have their own.
            tmpfs={"/box": f"size={room.box_mb}m,mode=0700", "/tmp": "size=1m,mode=0700"},  # noqa: S108
            shm_size=1 << 20,
            ipc_mode="private",
            log_config=docker.types.LogConfig(type="none"),
            dns=["127.0.0.1"],  # else the host's resolv.conf would be shown inside
            dns_search=["."],
            ulimits=[docker.types.Ulimit(name="core", soft=0, hard=0)],
            init=False,
        )
        if cgroup is None:
            configuration["security_opt"] += ["apparmor=unconfined", "seccomp=unconfined"]
        else:
            configuration["cgroup_parent"] = cgroup.path
        return configuration

    def remove_leftovers(self, is_alive: Callable[[str], bool]) -> int:
        """Remove the sandboxes of workers that are not alive, and processes of theirs that the engine has forgotten."""
        removed = 0
        with _translated(EngineUnavailable):
            for container in self._client.api.containers(all=True, filters={"label": LABEL_WORKER}):
                worker = container["Labels"][LABEL_WORKER]
                if worker == self.worker:
                    # Ours are removed by whoever used them; one that was made long ago and does not run was not.
                    left = container["State"] != "running" and time.time() - container["Created"] > START_TIMEOUT_S
                else:
                    left = not is_alive(worker)
                if left:
                    with contextlib.suppress(docker.errors.NotFound, docker.errors.APIError):
                        self._client.api.remove_container(container["Id"], force=True, v=True)
                        removed += 1
                    if worker == self.worker:
                        _remove_cgroups(f"{self._corner}/{worker}/{container['Names'][0].strip('/')}")
        for worker in Cgroup(self._corner).children():
            if worker != self.worker and not is_alive(worker):
                _remove_cgroups(f"{self._corner}/{worker}")
        return removed

    def close(self) -> None:
        self._client.close()
        if not self.insecure:
            _remove_cgroups(f"{self._corner}/{self.worker}")


def _remove_cgroups(path: str) -> None:
    """A start that failed was seen to leave gVisor processes that the engine no longer knew, burning CPU for ever."""
    group = Cgroup(path)
    for pause_s in CGROUP_PAUSES_S:
        for pid in group.processes():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if group.remove():
            return
        time.sleep(pause_s)  # those that were killed are still on their way out
    logger.warning("the cgroup %s is still in use", path)


def _gvisor_version(path: str) -> str:
    """``runsc --version`` when the binary is here (the engine may run elsewhere); refuses what is too old."""
    try:
        # The engine's configuration names the path, and whoever writes that is root here anyway.
        command = [path, "--version"]
        shown = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    found = re.search(r"(\d{4})\d{4}(?:\.\d+)*", shown)
    if found is None:
        return "unknown"
    if int(found[1]) < OLDEST_GVISOR:
        raise SandboxNotIsolated(f"gVisor {found[0]} is too old: {OLDEST_GVISOR} or newer is needed")
    return found[0]


def _require_gvisor(hello: dict[str, str]) -> None:
    # Only gVisor's own kernel has this log: no name in a configuration can pretend it.
    if "Starting gVisor" not in hello.get("kernel_log", ""):
        raise SandboxNotIsolated(f"what runs inside is not gVisor: {hello.get('kernel_version', '?')}")
    if hello.get("cgroups") != "1":
        raise SandboxNotIsolated("gVisor's own cgroups cannot be used: nothing would count processes and memory inside")


class Sandbox:
    """One container and the stream to its supervisor. `send` and `receive` belong to one thread, `kill` to any."""

    def __init__(self, client: docker.DockerClient, name: str, cgroup: Cgroup | None) -> None:
        self.name = name
        self.cgroup = cgroup
        self._api = client.api
        self._id: str | None = None
        self._socket: socket.socket | None = None
        self._stream: Any = None
        self._demultiplexer = _Demultiplexer()
        self._reader = FrameReader()
        self._frames: deque[tuple[FrameType, bytes]] = deque()
        self._last_uid = FIRST_UID
        self._cells = 0
        self._owner: str | None = None

    def create(self, image: str, configuration: dict[str, Any], labels: dict[str, str]) -> None:
        created = self._api.create_container(
            image=image,
            name=self.name,
            entrypoint=["/codeforge/supervisor"],
            command=[],
            hostname="sandbox",
            stdin_open=True,
            environment={},
            labels=labels,
            working_dir="/",
            user="0:0",
            network_disabled=True,
            healthcheck={"Test": ["NONE"]},
            host_config=self._api.create_host_config(**configuration),
        )
        self._id = created["Id"]
        # Attached before the start, so that not a byte is lost; with stdin once: the engine closes it when we go away.
        stream = self._api.attach_socket(self._id, params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
        self._socket = stream._sock  # noqa: SLF001  the Docker client gives no other way to set a time-out
        self._stream = stream
        self._api.start(self._id)

    def await_hello(self, deadline: float) -> dict[str, str]:
        try:
            kind, payload = self.receive(deadline)
        except TimeoutError as error:
            raise SandboxStartFailed("the supervisor does not say hello") from error
        if kind is not FrameType.HELLO:
            raise SandboxStartFailed(f"instead of a hello came {kind.name}: {payload[:200]!r}")
        return parse_lines(payload)

    def claim_for(self, account: str) -> None:
        """From now on this sandbox is ``account``'s, for ever. Raises `SandboxNotIsolated` when it is another's."""
        if self._owner not in (None, account):
            raise SandboxNotIsolated("a sandbox of one account was about to run a program of another")
        self._owner = account

    def next_uid(self) -> int:
        """A uid that no cell of this sandbox has had."""
        self._last_uid += 1
        return self._last_uid

    def next_cell(self) -> int:
        """The number of the cell that is ordered now: this side of the supervisor's own count, from 1."""
        self._cells += 1
        return self._cells

    def ping(self) -> None:
        """Raises `SandboxError` when the supervisor does not answer at once."""
        deadline = time.monotonic() + PING_TIMEOUT_S
        self.send(FrameType.PING, deadline=deadline)
        try:
            kind, _ = self.receive(deadline)
        except TimeoutError as error:
            raise SandboxLost("no answer to a ping") from error
        if kind is not FrameType.PONG:
            raise ProtocolViolated(f"{kind.name} in answer to a ping")

    def set_memory(self, memory_mb: int) -> bool:
        """Move the wall: the memory that everything in the sandbox may use. False when more than that is in use, by
        what ran before. Raises `SandboxNotIsolated`."""
        if self.cgroup is None or self._id is None:
            return True
        return self.cgroup.set_memory(memory_mb << 20, inner=self._id, above=CONTAINER_ABOVE_WALL)

    def require_limits(self, memory: int) -> None:
        """Read back from the kernel and the engine what was asked for: a cgroup driver that does not fit drops limits
        without a word. Raises `SandboxNotIsolated`."""
        assert self.cgroup is not None
        assert self._id is not None
        in_force = int(self.cgroup.inner_limit(self._id, "memory.limit_in_bytes", "memory.max"))
        if in_force != memory:
            raise SandboxNotIsolated(f"the container's memory limit is {in_force}, not {memory}")
        pids = self.cgroup.inner_limit(self._id, "pids.max", "pids.max")
        if pids == "max":
            raise SandboxNotIsolated("the container's number of host threads is not limited")

    def send(self, kind: FrameType, *parts: bytes, deadline: float) -> None:
        """Raises `SandboxLost` when the supervisor does not take it in time."""
        if self._socket is None:
            raise SandboxLost("the sandbox is not there")
        with _translated(SandboxLost):
            self._socket.settimeout(max(0.001, deadline - time.monotonic()))
            self._socket.sendall(encode_frame(kind, *parts))

    def receive(self, deadline: float) -> tuple[FrameType, bytes]:
        """The next frame. Raises `TimeoutError` at the deadline (of `time.monotonic`), `SandboxLost` at its end."""
        while not self._frames:
            self._fill(deadline)
        return self._frames.popleft()

    def _fill(self, deadline: float) -> None:
        stream = self._socket
        if stream is None:
            raise SandboxLost("the sandbox is not there")
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        stream.settimeout(left)
        try:
            data = stream.recv(1 << 18)
        except OSError as error:
            if isinstance(error, TimeoutError):
                raise
            raise SandboxLost(f"the stream broke: {error}") from error
        if not data:
            raise SandboxLost("the sandbox ended without a report")
        for content in self._demultiplexer.feed(data):
            self._frames.extend(self._reader.feed(content))

    def memory_refusals(self) -> int:
        """How often so far the kernel refused memory at the wall; 0 where it cannot be known."""
        return self.cgroup.memory_refusals() if self.cgroup is not None else 0

    @property
    def counts_cpu(self) -> bool:
        return self.cgroup is not None

    def cpu_ms(self) -> int:
        """CPU time of the whole sandbox so far, in milliseconds; 0 where it cannot be known."""
        return self.cgroup.cpu_ms() if self.cgroup is not None else 0

    def kill(self) -> None:
        """Stop whatever runs. The thread that receives sees `SandboxLost` at once."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def remove(self) -> None:
        """End it and leave nothing behind. What the engine refuses is logged; `Engine.remove_leftovers` comes later."""
        self.kill()
        if self._socket is not None:
            # What a broken stream says when it is closed must not keep the container from being removed.
            with contextlib.suppress(Exception):
                self._socket.close()
                self._stream.close()  # it is the last that holds the descriptor
            self._socket = None
        # By its name: the engine may have made a container whose id never reached us.
        for wait_s in REMOVAL_PAUSES_S:
            try:
                with _translated(EngineUnavailable):
                    self._api.remove_container(self.name, force=True, v=True)
            except Exception as error:  # noqa: BLE001  nobody waits for this thread, so nobody would see what it died of
                if "No such container" in str(error):
                    break
                logger.warning("sandbox %s is not removed yet: %s", self.name, error)
                time.sleep(wait_s)  # this is a thread that nobody waits for
            else:
                break
        if self.cgroup is not None:
            _remove_cgroups(self.cgroup.path)


class _Demultiplexer:
    """The engine wraps what a container writes: one byte stream number, three of nothing, four of length, content."""

    HEAD = struct.Struct(">BxxxI")
    STDOUT = 1

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._buffer += data
        while len(self._buffer) >= self.HEAD.size:
            number, length = self.HEAD.unpack_from(self._buffer)
            end = self.HEAD.size + length
            if len(self._buffer) < end:
                return
            content = bytes(self._buffer[self.HEAD.size : end])
            del self._buffer[:end]
            if number == self.STDOUT:
                yield content
