"""The import contracts hold, and each is worth its name: a planted violation breaks it."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("codeforge", "executions", "accounts", "sandbox")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint(tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_contracts_hold(tree: Path) -> None:
    done = lint(tree)
    assert done.returncode == 0, done.stdout


PLANTED = {
    "accounts stand below executions": ("accounts/usage.py", "import executions.models", "Layers"),
    "accounts know nothing of the sandbox": ("accounts/usage.py", "import sandbox.job", "Layers"),
    "the sandbox knows nothing of accounts": ("sandbox/verdict.py", "import accounts.models", "Layers"),
    "the sandbox knows nothing of executions": ("sandbox/verdict.py", "import executions.models", "Layers"),
    "the sandbox does not even take the leaves": ("sandbox/verdict.py", "import codeforge.errors", "Layers"),
    "apps take nothing of codeforge but the leaves": ("executions/api.py", "import codeforge.problems", "Layers"),
    "nor do accounts": ("accounts/usage.py", "from codeforge import settings", "Layers"),
    "leaves import no app": ("codeforge/errors.py", "import accounts.models", "leaves"),
    "leaves import nothing else": ("codeforge/env.py", "import codeforge.logs", "leaves"),
    "no Django in the sandbox": ("sandbox/verdict.py", "import django.db", "frameworks"),
    "no Celery in the sandbox": ("sandbox/verdict.py", "import celery", "frameworks"),
    "no PostgreSQL in the sandbox": ("sandbox/verdict.py", "import psycopg", "frameworks"),
    "Docker in one module only": ("sandbox/verdict.py", "import docker", "Docker"),
    "Docker not in executions": ("executions/runner.py", "import docker.errors", "Docker"),
    "web processes without the Docker client": ("executions/api.py", "import sandbox.connect", "Web processes"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_violation_is_found(tree: Path, name: str) -> None:
    path, violation, contract = PLANTED[name]
    file = tree / path
    text = file.read_text()
    # After the docstring, before everything else.
    end = ast.parse(text).body[0].end_lineno
    lines = text.splitlines()
    file.write_text("\n".join([*lines[:end], violation, *lines[end:]]))

    done = lint(tree)

    assert done.returncode != 0
    broken = [line for line in done.stdout.replace("\n", " ").split("KEPT") if "BROKEN" in line]
    assert any(contract in line for line in broken), done.stdout


def test_the_sandbox_takes_only_the_standard_library_and_docker_with_what_that_raises() -> None:
    allowed = sys.stdlib_module_names | {"sandbox", "docker", "requests", "urllib3"}
    for file in (ROOT / "sandbox").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names.append(node.module or "")
            assert {name.split(".")[0] for name in names} <= allowed, file
