"""What CodeForge is compared with: the same Python program run without it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import docker

from sandbox.catalogue import catalogue
from sandbox.docker import GVISOR
from sandbox.images import image_tag

PROGRAM = "import math\nprint(math.factorial(int(input())))\n"
STDIN = b"4\n"
PYTHON = ["/usr/bin/python3", "-c", PROGRAM]


def subprocess_run() -> None:
    """No isolation at all, on the host."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], input=STDIN, capture_output=True, check=True)
    assert done.stdout == b"24\n"


class Naive:
    """What one writes first: a container for every program through the SDK, under gVisor."""

    def __init__(self) -> None:
        self._client = docker.DockerClient.from_env(max_pool_size=32)
        self._image = image_tag(catalogue()["python"])

    def run(self) -> None:
        container = self._client.containers.create(
            self._image,
            command=["/usr/bin/python3", "-c", PROGRAM.replace("int(input())", "4")],
            runtime=GVISOR,
            network_mode="none",
            mem_limit="512m",
            nano_cpus=1_000_000_000,
        )
        try:
            container.start()
            assert container.wait()["StatusCode"] == 0
            assert container.logs() == b"24\n"
        finally:
            container.remove(force=True)


@contextmanager
def warm_container() -> Iterator["Warm"]:
    """A gVisor container that has been started already, whose only process starts the program when told to."""
    client = docker.DockerClient.from_env()
    loop = (
        "import subprocess, sys\n"
        "for line in sys.stdin.buffer:\n"
        f"    sys.stdout.buffer.write(subprocess.run({PYTHON!r}, input=line, stdout=subprocess.PIPE).stdout)\n"
        "    sys.stdout.flush()\n"
    )
    container = client.containers.create(
        image_tag(catalogue()["python"]),
        command=["/usr/bin/python3", "-c", loop],
        runtime=GVISOR,
        network_mode="none",
        stdin_open=True,
        tty=False,
        mem_limit="512m",
        nano_cpus=1_000_000_000,
    )
    try:
        stream = container.attach_socket(params={"stdin": 1, "stdout": 1, "stream": 1})
        container.start()
        yield Warm(stream)
    finally:
        container.remove(force=True)


class Warm:
    def __init__(self, stream: "docker.types.CancellableStream") -> None:
        self._stream = stream
        self._socket = stream._sock  # noqa: SLF001  the Docker client gives no other way to it

    def run(self) -> None:
        self._socket.sendall(STDIN)
        received = b""
        while not received.endswith(b"24\n"):
            received += self._socket.recv(4_096)
