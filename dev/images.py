"""The Debian base image, runsc, and the languages' images: got once, kept under var/docker."""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from dev.console import Trouble, step
from dev.engine import docker
from dev.paths import DOCKER, LOG, ROOT, RUNSC

BASE = "debian:trixie-slim"
SUITE = "trixie"

# Older ones have no systrap platform, and a fork bomb crashes their kernel (seen with Debian 12's package, of 2022).
OLDEST_RUNSC = 2023

# As in the published slim image, so that Dockerfiles build the same on either.
SLIM = """\
path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/info/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/man/*
"""


def ensure_base(host: str) -> None:
    if docker(host, "image", "inspect", BASE).returncode == 0:
        return
    with step(f"Base image {BASE}: asking the registry"):
        pulled = pull(host)
    if not pulled:
        with step(f"Base image {BASE}: no registry answers, making it with debootstrap"):
            bootstrap(host)


def pull(host: str) -> bool:
    with contextlib.suppress(subprocess.TimeoutExpired):
        return docker(host, "pull", "--quiet", BASE, timeout_s=40).returncode == 0
    return False


def bootstrap(host: str) -> None:
    tree = DOCKER / "base"
    log = LOG / "debootstrap.log"
    shutil.rmtree(tree, ignore_errors=True)
    with log.open("wb") as output:
        # In a mount namespace of its own: when interrupted it leaves no /proc mounted in the tree.
        made = subprocess.run(
            ("unshare", "--mount", "debootstrap", "--variant=minbase", SUITE, tree),
            check=False,
            stdout=output,
            stderr=output,
        )
    if made.returncode != 0:
        raise Trouble(
            f"debootstrap could not make {BASE}; see {log}. It needs the Debian archive: check the network (and "
            "http_proxy), and the package debian-archive-keyring."
        )
    for folder in ("usr/share/info", "usr/share/locale", "usr/share/man", "var/cache/apt", "var/lib/apt/lists"):
        empty(tree / folder)
    for path in (tree / "usr/share/doc").rglob("*"):
        if path.is_file() and path.name != "copyright":
            path.unlink()
    (tree / "var/cache/apt/archives/partial").mkdir(parents=True)
    (tree / "etc/dpkg/dpkg.cfg.d/slim").write_text(SLIM)
    for path in (tree / "var/log").glob("*.log"):
        path.write_text("")
    with subprocess.Popen(("tar", "--numeric-owner", "-C", tree, "-c", "."), stdout=subprocess.PIPE) as tar:
        imported = subprocess.run(
            ("docker", "--host", host, "import", "--change", 'CMD ["bash"]', "-", BASE),
            check=False,
            stdin=tar.stdout,
            capture_output=True,
            text=True,
        )
    if tar.returncode or imported.returncode:
        raise Trouble(f"docker import of {BASE} failed: {imported.stderr.strip()}")
    shutil.rmtree(tree)


def empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def ensure_runsc(host: str) -> None:
    """gVisor's `runsc`, from Debian 13's package: statically linked, so it runs on an older host too."""
    if not RUNSC.exists():
        with step("runsc (gVisor), from Debian's package"):
            fetch_runsc(host)
    release = runsc_release(RUNSC)
    if release < OLDEST_RUNSC:
        raise Trouble(f"{RUNSC} is of {release}; gVisor before {OLDEST_RUNSC} is not safe. Remove it and try again.")


def fetch_runsc(host: str) -> None:
    got = subprocess.run(
        (
            *("docker", "--host", host, "run", "--rm", "--network=host", BASE, "sh", "-euc"),
            "cd /tmp; apt-get -qq update >&2; apt-get -qq download runsc >&2; dpkg-deb --fsys-tarfile runsc_*.deb",
        ),
        check=False,
        capture_output=True,
    )
    if got.returncode:
        raise Trouble(
            f"Debian's package runsc could not be fetched:\n{got.stderr.decode(errors='replace').strip()}\n"
            f"Check the network, or put a runsc of {OLDEST_RUNSC} or newer at {RUNSC}."
        )
    with tarfile.open(fileobj=io.BytesIO(got.stdout)) as package:
        member = package.extractfile("./usr/bin/runsc")
        assert member
        RUNSC.parent.mkdir(parents=True, exist_ok=True)
        incomplete = RUNSC.with_suffix(".new")
        with incomplete.open("wb") as file:
            shutil.copyfileobj(member, file)
    incomplete.chmod(0o755)
    incomplete.rename(RUNSC)


def runsc_release(runsc: Path) -> int:
    """The year of a runsc: its versions are dates, `release-20240729.0` or `0.0~20240729.0`."""
    printed = subprocess.run((runsc, "--version"), check=False, capture_output=True, text=True).stdout
    found = re.search(r"runsc version \S*?(20\d\d)\d{4}", printed)
    if not found:
        raise Trouble(f"{runsc} --version says {printed!r}, which names no release. Remove it and try again.")
    return int(found[1])


def languages(host: str) -> str:
    """The names of the languages' images on this engine; they change with what the images are built from."""
    listed = docker(host, "image", "ls", "--format={{.Repository}}:{{.Tag}}", "--filter=reference=codeforge/*").stdout
    return "".join(sorted(listed.splitlines(keepends=True)))


def ensure_languages(host: str) -> None:
    """The images that programs run in. The builder prints its own progress, and nothing when all are there."""
    env = {**os.environ, "DOCKER_HOST": host}
    built = subprocess.run((sys.executable, "-m", "sandbox.images"), check=False, cwd=ROOT, env=env)
    if built.returncode:
        raise Trouble("The languages' images could not be built; what went wrong is printed above.")
