"""The images that sandboxes are made of. ``python -m sandbox.images`` builds what is missing.

A tag carries the hash of everything that the image is built from, so a worker always runs what belongs to its own code.
"""

import hashlib
import sys
import time
from collections.abc import Callable
from pathlib import Path

from sandbox.catalogue import Runtime, catalogue
from sandbox.docker import Engine
from sandbox.errors import ImageMissing, SandboxError

SUPERVISOR = Path(__file__).parent / "supervisor"


def image_tag(runtime: Runtime) -> str:
    return f"codeforge/{runtime.language}:{_hash_of(runtime.folder, SUPERVISOR)}"


def supervisor_tag() -> str:
    return f"codeforge/supervisor:{_hash_of(SUPERVISOR)}"


def build_missing(engine: Engine, say: Callable[[str], None]) -> None:
    """Build every image that this engine does not have. Raises `SandboxError` when a build fails."""
    for runtime in catalogue().values():
        if _is_there(engine, image_tag(runtime)):
            continue
        if not _is_there(engine, supervisor_tag()):
            _build(engine, SUPERVISOR, supervisor_tag(), {}, say)
        _build(engine, runtime.folder, image_tag(runtime), {"SUPERVISOR": supervisor_tag()}, say)


def _build(engine: Engine, folder: Path, tag: str, arguments: dict[str, str], say: Callable[[str], None]) -> None:
    started = time.monotonic()
    say(f"building {tag} …")
    # A build step says "Step 3/5 : RUN …"; the rest of its output matters only when it fails.
    engine.build(folder, tag, arguments, lambda line: say(f"  {line}") if line.startswith("Step ") else None)
    say(f"built {tag} in {time.monotonic() - started:.0f} s")


def _is_there(engine: Engine, tag: str) -> bool:
    try:
        engine.digest(tag)
    except ImageMissing:
        return False
    return True


def _hash_of(*folders: Path) -> str:
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            # Self-tests are not in the image; what Python leaves about is nobody's source.
            if path.is_file() and path.suffix not in (".toml", ".pyc"):
                content = path.read_bytes()
                digest.update(f"{path.relative_to(folder)} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:12]


def main() -> int:
    try:
        build_missing(Engine(worker="images"), lambda line: print(line, flush=True))
    except SandboxError as error:
        print(f"cannot build the runtime images: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
