"""A Docker engine of this checkout's own, so that one already on the machine is never touched or restarted.

It has its own configuration file, data, sockets and containerd. Its own containerd, because dockerd would else use the
system's where there is one, and because the one that dockerd starts by itself writes to /opt. It makes no bridge and no
firewall rule and switches no forwarding on: sandboxes have no network, image builds use the host's.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from dev.console import Trouble, step
from dev.daemon import Daemon
from dev.paths import CHECKOUT, DOCKER, ENGINE_RUN, RUNSC

HOST = f"unix://{ENGINE_RUN}/docker.sock"

CONTAINERD = Daemon("containerd")
DOCKERD = Daemon("dockerd")

CONTAINERD_SOCKET = ENGINE_RUN / "containerd" / "containerd.sock"
PANIC = ENGINE_RUN / "panic"

RUNTIME = "codeforge-runsc"
RUNTIME_ARGUMENTS = (
    "--network=none",
    "--platform=systrap",
    "--directfs=false",
    "--overlay2=none",
    "--host-uds=none",
    "--host-fifo=none",
    "--net-raw=false",
    "--file-access=exclusive",
    "--cpu-num-from-quota=true",
    "--watchdog-action=panic",
    f"--panic-log={PANIC}/runsc.log",
)


def containerd_config() -> str:
    return f"""\
version = 2
root = "{DOCKER}/containerd"
state = "{ENGINE_RUN}/containerd/state"
# Parts that Docker has no use for; the last would listen on a socket that the system's containerd may own.
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.nri.v1.nri"]

[grpc]
address = "{CONTAINERD_SOCKET}"

[debug]
level = "warn"

[plugins."io.containerd.internal.v1.opt"]
path = "{DOCKER}/containerd/opt"
"""


def dockerd_config() -> dict[str, object]:
    config: dict[str, object] = {
        "hosts": [HOST],
        "containerd": str(CONTAINERD_SOCKET),
        "data-root": str(DOCKER / "data"),
        "exec-root": str(ENGINE_RUN / "exec"),
        "pidfile": str(ENGINE_RUN / "dockerd.pid"),
        "bridge": "none",
        "iptables": False,
        "ip6tables": False,
        "ip-forward": False,
        "ip-masq": False,
        "userland-proxy": False,
        # Named, because a guess that differs from the truth drops memory and CPU limits without a word.
        "exec-opts": ["native.cgroupdriver=cgroupfs"],
        # Where the processes of a container are found that Docker has lost (see leftover_processes).
        "cgroup-parent": f"/{CHECKOUT}",
        # One image store in every version: newer engines would put images into containerd's and name other digests.
        "features": {"containerd-snapshotter": False},
        "log-level": "warn",
        "runtimes": {RUNTIME: {"path": str(RUNSC), "runtimeArgs": list(RUNTIME_ARGUMENTS)}},
    }
    if engine_version() < 23:
        # Old engines make an identity key, in /etc/docker unless told otherwise; new ones refuse the setting.
        config["deprecated-key-path"] = str(DOCKER / "key.json")
    return config


def engine_version() -> int:
    printed = subprocess.run(("dockerd", "--version"), capture_output=True, text=True, check=True).stdout
    found = re.search(r"version (\d+)\.", printed)
    if not found:
        raise Trouble(f"dockerd does not say which version it is, but: {printed!r}")
    return int(found[1])


def answers(path: Path) -> bool:
    """Whether something accepts connections at this unix socket."""
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(path))
        except OSError:
            return False
        return True


def engine_answers() -> bool:
    """Whether dockerd serves requests. Its socket accepts connections seconds before it does."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(2)
        try:
            client.connect(HOST.removeprefix("unix://"))
            client.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
            return b" 200 " in client.recv(64)
        except OSError:
            return False


def start() -> None:
    if DOCKERD.pid() and CONTAINERD.pid() and engine_answers():
        return
    with step("Docker engine of this checkout"):
        DOCKERD.stop(timeout_s=20)
        if not CONTAINERD.pid():
            # What a crash or a power cut left: their sockets, mounts and sandboxes would confuse a new containerd.
            end_leftovers()
            shutil.rmtree(ENGINE_RUN, ignore_errors=True)
        for folder in (ENGINE_RUN, ENGINE_RUN / "containerd", PANIC):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not PANIC.is_mount():
            # The last words of a crashing sandbox. A hostile program may crash its sandbox as often as it likes.
            subprocess.run(("mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "codeforge-panic", PANIC), check=True)

        config = DOCKER / "containerd.toml"
        config.write_text(containerd_config())
        if not CONTAINERD.pid():
            CONTAINERD.start(("containerd", "--config", config))
        CONTAINERD.wait_ready(lambda: answers(CONTAINERD_SOCKET), 30)

        config = DOCKER / "dockerd.json"
        config.write_text(json.dumps(dockerd_config(), indent=2))
        (ENGINE_RUN / "dockerd.pid").unlink(missing_ok=True)
        DOCKERD.start(("dockerd", "--config-file", config))
        DOCKERD.wait_ready(engine_answers, 60)


def stop() -> None:
    # Without containerd neither can end well, and trying takes half a minute; end_leftovers does not need them.
    whole = CONTAINERD.pid() is not None
    if whole and engine_answers():
        with contextlib.suppress(subprocess.TimeoutExpired):
            remove_containers(HOST)
    DOCKERD.stop(timeout_s=30 if whole else 1)
    CONTAINERD.stop(timeout_s=20)
    end_leftovers()
    shutil.rmtree(ENGINE_RUN, ignore_errors=True)


def docker(host: str, *arguments: str, timeout_s: float | None = None) -> subprocess.CompletedProcess[str]:
    """Run the docker command line against `host`."""
    return subprocess.run(
        ("docker", *arguments),
        check=False,
        env={**os.environ, "DOCKER_HOST": host},
        text=True,
        capture_output=True,
        timeout=timeout_s,
    )


def remove_containers(host: str, *filters: str) -> None:
    chosen = (f"--filter={one}" for one in filters)
    listed = docker(host, "ps", "--all", "--quiet", *chosen, timeout_s=10).stdout.split()
    if listed:
        docker(host, "rm", "--force", "--volumes", *listed, timeout_s=60)


def end_leftovers() -> None:
    """Kill what outlived the engine and undo its mounts.

    A container whose start failed can leave `runsc-sandbox` and `runsc-gofer` processes that Docker no longer knows.
    All are told from the system's, and from another checkout's, by our runsc's path, our containerd's, our cgroup.
    """
    deadline = time.monotonic() + 5
    while (left := list(leftover_processes())) and time.monotonic() < deadline:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    for place in mounts_below(DOCKER, ENGINE_RUN):
        subprocess.run(("umount", "--lazy", place), check=False)
    for tree in cgroups():
        for group in sorted(tree.glob("**/"), reverse=True):
            with contextlib.suppress(OSError):
                group.rmdir()


def leftover_processes() -> Iterator[int]:
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            executable = (folder / "exe").readlink()
            arguments = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
            is_shim = executable.name.startswith("containerd-shim") and str(CONTAINERD_SOCKET) in arguments
            if executable.is_relative_to(RUNSC.parent) or is_shim or f"/{CHECKOUT}/" in (folder / "cgroup").read_text():
                yield int(folder.name)


def cgroups() -> list[Path]:
    """Our cgroup in each of the hierarchies of cgroup v1, or the one of v2."""
    root = Path("/sys/fs/cgroup")
    return [*root.glob(CHECKOUT), *root.glob(f"*/{CHECKOUT}")]


def mounts_below(*folders: Path) -> list[str]:
    """Mount points under these folders, the deepest first."""
    places = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        place = line.split()[4].encode().decode("unicode_escape")
        if any(Path(place).is_relative_to(folder) for folder in folders):
            places.append(place)
    return sorted(places, key=len, reverse=True)
