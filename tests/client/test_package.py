"""The package as somebody gets it: installed by itself, its README's sample and its command run as they are printed."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cast import Caller
from tests.worker_process import Process

pytestmark = [pytest.mark.real, pytest.mark.django_db(transaction=True)]

PACKAGE = Path(__file__).parents[2] / "clients" / "python"
# What it declares, and what that declares.
BROUGHT = {"codeforge-client", "httpx", "tqdm", "anyio", "certifi", "h11", "httpcore", "idna", "typing-extensions"}


@pytest.fixture
def sandboxed(tmp_path: Path, transactional_db: None) -> Iterator[Process]:
    process = Process(tmp_path / "worker.log", concurrency=1, app="codeforge")
    yield process
    process.process.terminate()
    process.process.wait(timeout=60)


def call(*command: object, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, **environment},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_brings_what_it_declares_and_does_what_its_readme_says(
    served: Caller, sandboxed: Process, tmp_path: Path
) -> None:
    call(sys.executable, "-m", "venv", tmp_path / "venv")
    bin_ = tmp_path / "venv" / "bin"
    call(bin_ / "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE)
    listed = call(bin_ / "pip", "list", "--format", "freeze", "--disable-pip-version-check")
    installed = {re.split("[= @]", line)[0].lower().replace("_", "-") for line in listed.splitlines()}
    assert installed - {"pip", "setuptools"} <= BROUGHT

    assert "evaluate" in call(bin_ / "codeforge", "--help")
    assert "--preset" in call(bin_ / "codeforge", "evaluate", "--help")
    program = tmp_path / "fact.py"
    program.write_text("import math\nprint(math.factorial(int(input())))\n")
    assert call(bin_ / "codeforge", "run", program, "--stdin", "4") == "24\n"

    (sample,) = re.findall(r"```python\n(.*?)```", (PACKAGE / "README.md").read_text(), re.DOTALL)
    assert call(bin_ / "python", "-c", sample) == "0.5\n"
