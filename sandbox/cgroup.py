"""The cgroup on the host that holds one sandbox: the wall behind the supervisor's limits, and the kernel's evidence.

The worker makes it around the container's cgroup (Docker's ``CgroupParent``), so that its counters are still there when
the container is gone: Docker's ``OOMKilled`` was seen lost and wrong. Its memory limit is the wall; the container's own
is a little above, so that it is always this one that is hit and counts.
"""

import contextlib
import errno
import os
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxNotIsolated

ROOT = Path("/sys/fs/cgroup")
_V1_CONTROLLERS = ("memory", "cpu", "cpuacct", "pids", "cpuset", "blkio", "devices", "freezer")


def is_unified() -> bool:
    """Whether this host has cgroup version 2."""
    return (ROOT / "cgroup.controllers").exists()


def _hierarchies() -> list[Path]:
    if is_unified():
        return [ROOT]
    # Some are links to a joint one (cpu,cpuacct); systemd's and others are made by the runtime and must go as well.
    return sorted({path.resolve() for path in ROOT.iterdir() if path.is_dir()})


@dataclass(frozen=True, slots=True)
class Cgroup:
    """``path`` is relative to each hierarchy, as Docker wants it: ``/codeforge/<worker>/<sandbox>``."""

    path: str

    @classmethod
    def make(cls, path: str, *, memory_bytes: int) -> "Cgroup":
        """Raises `SandboxNotIsolated` when the limit cannot be set: without it there is no wall."""
        group = cls(path)
        memory = group._folder("memory")
        try:
            memory.mkdir(parents=True, exist_ok=True)
            if is_unified():
                _delegate_controllers(memory)
                (memory / "memory.max").write_text(str(memory_bytes))
            else:
                (memory / "memory.limit_in_bytes").write_text(str(memory_bytes))
        except OSError as error:
            raise SandboxNotIsolated(f"cannot make the cgroup {path}: {error}. Is {ROOT} writable here?") from error
        return group

    def set_memory(self, memory_bytes: int, *, inner: str, above: int) -> bool:
        """Set the limit of this cgroup, and of the container ``inner`` a little above.

        False when more than that is in use: gVisor gives memory back some time after its last user has ended.
        Raises `SandboxNotIsolated`.
        """
        file = "memory.max" if is_unified() else "memory.limit_in_bytes"
        outer_folder = self._folder("memory")
        inner_file = outer_folder / inner / file
        limits = [(outer_folder / file, memory_bytes), (inner_file, memory_bytes + above)]
        try:
            if is_unified() and int((outer_folder / "memory.current").read_text()) > memory_bytes:
                return False  # version 2 would kill to get there, version 1 refuses
            # Version 1 has a limit for memory and swap together, which must never be below that for memory.
            with_swap = outer_folder / inner / "memory.memsw.limit_in_bytes"
            if with_swap.exists():
                raises = memory_bytes + above > int(inner_file.read_text())
                limits.insert(1 if raises else 2, (with_swap, memory_bytes + above))
            for path, wanted in limits:
                path.write_text(str(wanted))
                if int(path.read_text()) != wanted:
                    raise SandboxNotIsolated(f"{path} does not take {wanted}")
            return True
        except OSError as error:
            if error.errno == errno.EBUSY:
                return False
            raise SandboxNotIsolated(f"cannot set the memory limit of {self.path}: {error}") from error

    def memory_refusals(self) -> int:
        """How often the kernel refused memory to what is, or was, inside."""
        if is_unified():
            return self._counter("memory", "memory.events", "oom_kill ")
        return self._counter("memory", "memory.failcnt")

    def cpu_ms(self) -> int:
        """CPU time of everything inside, gVisor's own work included, in milliseconds."""
        if is_unified():
            return self._counter("cpuacct", "cpu.stat", "usage_usec ") // 1_000
        return self._counter("cpuacct", "cpuacct.usage") // 1_000_000

    def processes(self) -> set[int]:
        """Host process ids of everything inside, whether Docker still knows it or not."""
        found: set[int] = set()
        for hierarchy in _hierarchies():
            # `os.walk` and not a glob: what is inside may go away while we look, which is no error.
            for folder, _, _ in os.walk(hierarchy / self.path.lstrip("/")):
                with contextlib.suppress(OSError):
                    found.update(map(int, Path(folder, "cgroup.procs").read_text().split()))
        return found

    def children(self) -> list[str]:
        """Names of the cgroups below this one."""
        folder = self._folder("memory")
        return sorted(child.name for child in folder.iterdir() if child.is_dir()) if folder.is_dir() else []

    def remove(self) -> bool:
        """Remove what is empty; False when something is still inside."""
        for hierarchy in _hierarchies():
            top = hierarchy / self.path.lstrip("/")
            for folder, _, _ in os.walk(top, topdown=False):
                with contextlib.suppress(OSError):
                    Path(folder).rmdir()
        return not any((hierarchy / self.path.lstrip("/")).exists() for hierarchy in _hierarchies())

    def inner_limit(self, container: str, name_v1: str, name_v2: str) -> str:
        """What is really in force in the container's own cgroup below this one, as the kernel writes it."""
        controller, _, _ = name_v1.partition(".")
        folder = self._folder(controller) / container
        return (folder / (name_v2 if is_unified() else name_v1)).read_text().strip()

    def _folder(self, controller: str) -> Path:
        base = ROOT if is_unified() else ROOT / controller
        return base / self.path.lstrip("/")

    def _counter(self, controller: str, file: str, prefix: str = "") -> int:
        try:
            text = (self._folder(controller) / file).read_text()
        except OSError:
            return 0
        lines = [line.removeprefix(prefix) for line in text.splitlines() if line.startswith(prefix)]
        return int(lines[0]) if lines else 0


def _delegate_controllers(folder: Path) -> None:
    """Version 2 gives a child only the controllers that each of its parents passes on."""
    for parent in reversed(folder.relative_to(ROOT).parents):
        with contextlib.suppress(OSError):
            (ROOT / parent / "cgroup.subtree_control").write_text("+memory +cpu +pids")
    with contextlib.suppress(OSError):
        (folder / "cgroup.subtree_control").write_text("+memory +cpu +pids")
