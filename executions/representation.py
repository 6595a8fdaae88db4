"""An execution as every endpoint shows it. Its shape is declared in `executions.schema`; a test compares them."""

import base64
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from accounts.entitlements import Entitlements
from accounts.usage import Period
from executions.fields import encode
from executions.models import Execution, RuntimeImage
from executions.queries import Load
from executions.serializers import LIMIT_NAMES
from sandbox.catalogue import Runtime


def full(execution: Execution, *, encoding: str = "utf-8") -> dict[str, Any]:
    """With its outputs. ``encoding`` is `utf-8` (what is not is replaced, and `outputLossy` says so) or `base64`."""
    stdout, stdout_lossy = _text(execution.stdout, encoding)
    stderr, stderr_lossy = _text(execution.stderr, encoding)
    shown = brief(execution)
    shown |= {"stdout": stdout, "stderr": stderr, "outputLossy": stdout_lossy or stderr_lossy}
    if execution.compiled:
        for stream in ("stdout", "stderr"):
            shown["compile"][stream], lossy = _text(getattr(execution, f"compile_{stream}"), encoding)
            shown["outputLossy"] |= lossy
    if execution.tests_total is not None and execution.is_finished:
        shown["tests"] = [_test_result(result, encoding) for result in execution.test_results]
    return shown


def _test_result(result: Mapping[str, Any], encoding: str) -> dict[str, Any]:
    raw = {stream: base64.b64decode(result[stream]) for stream in ("stdout", "stderr")}
    stdout, stdout_lossy = _text(raw["stdout"], encoding)
    stderr, stderr_lossy = _text(raw["stderr"], encoding)
    return dict(result) | {
        "stdout": stdout,
        "stderr": stderr,
        "stdoutTruncated": result["stdoutBytes"] > len(raw["stdout"]),
        "stderrTruncated": result["stderrBytes"] > len(raw["stderr"]),
        "outputLossy": stdout_lossy or stderr_lossy,
    }


def brief(execution: Execution) -> dict[str, Any]:
    """For lists: touches no column that holds program text or output."""
    return {
        "executionId": str(execution.pk),
        "status": execution.status,
        "phase": execution.phase,
        "passed": execution.passed,
        "language": execution.language,
        "runtime": _runtime(execution),
        "stdoutBytes": execution.stdout_bytes,
        "stderrBytes": execution.stderr_bytes,
        "stdoutTruncated": execution.stdout_truncated,
        "stderrTruncated": execution.stderr_truncated,
        "exitCode": execution.exit_code,
        "signal": execution.signal,
        "limitExceeded": execution.limit_exceeded,
        "compile": _compile(execution),
        "usage": {
            "wallTimeMs": execution.wall_time_ms,
            "cpuTimeMs": execution.cpu_time_ms,
            "memoryPeakKb": execution.memory_peak_kb,
            "queueMs": _queue_ms(execution),
            "startMs": execution.start_ms,
            "compileTimeMs": execution.compile_time_ms,
        },
        "limits": {name: execution.limits[key] for name, key in LIMIT_NAMES.items()},
        "isolation": execution.isolation,
        "attempts": execution.attempts,
        "tests": None,
        "testsPassed": execution.tests_passed,
        "testsTotal": execution.tests_total,
        "error": {"code": execution.error_code, "id": str(execution.error_id)} if execution.error_code else None,
        "metadata": execution.metadata,
        "createdAt": time(execution.created_at),
        "startedAt": time(execution.started_at),
        "finishedAt": time(execution.finished_at),
    }


def submitted(execution: Execution) -> dict[str, Any]:
    """What was asked for, as a request that would ask for the same again."""
    stdin = bytes(execution.stdin)
    try:
        stdin_text, stdin_encoding = encode(stdin, "utf-8"), "utf-8"
    except UnicodeDecodeError:
        stdin_text, stdin_encoding = encode(stdin, "base64"), "base64"
    shown: dict[str, Any] = {
        "language": execution.language,
        "version": execution.version,
        "source": execution.source,
        "files": [_file(file) for file in execution.files],
        "stdin": stdin_text,
        "stdinEncoding": stdin_encoding,
        "args": execution.args,
        "options": execution.options,
        "limits": {name: execution.limits[key] for name, key in LIMIT_NAMES.items()},
        "isolation": execution.isolation,
        "metadata": execution.metadata,
    }
    if execution.tests is not None:
        for name in ("stdin", "stdinEncoding", "args"):
            del shown[name]
        shown |= {
            "checker": execution.checker,
            "tests": [_submitted_test(test) for test in execution.tests],
            "stopOnFirstFailure": execution.stop_on_first_failure,
        }
    if execution.expected_stdout is not None:
        shown |= {"expectedStdout": bytes(execution.expected_stdout).decode(), "checker": execution.checker}
    return shown


def runtime(runtime: Runtime, images: list[RuntimeImage], limits: Mapping[str, Any]) -> dict[str, Any]:
    """A language as `GET /v1/runtimes` tells of it."""
    return {
        "language": runtime.language,
        "title": runtime.title,
        "versions": [
            {
                "version": image.version,
                "image": image.image,
                "sandbox": image.sandbox,
                "sandboxVersion": image.sandbox_version,
            }
            for image in images
        ],
        "compileCommand": list(runtime.compile.argv) if runtime.compile else None,
        "runCommand": list(runtime.run.argv),
        "environment": dict(runtime.run.environment),
        "options": {
            name: {"values": list(option.values), "default": option.default} for name, option in runtime.options.items()
        },
        "limits": {
            name: {"default": limits[key].default, "ceiling": limits[key].ceiling} for name, key in LIMIT_NAMES.items()
        },
    }


def usage(entitled: Entitlements, period: Period, *, load: Load, running: int) -> dict[str, Any]:
    """What an account has used and has going on. Unfinished runs are taken off what remains, as submission does."""
    limit = entitled.monthly_runs
    return {
        "plan": entitled.plan,
        "period": {"start": time(period.start), "end": time(period.end)},
        "runs": {
            "used": load.used,
            "limit": limit,
            "remaining": None if limit is None else max(0, limit - load.used - load.unfinished),
        },
        "concurrency": {
            "running": running,
            "queued": max(0, load.unfinished - running),
            "max": entitled.max_concurrency,
            "maxQueued": entitled.max_queued,
        },
    }


def time(at: datetime | None) -> str | None:
    """UTC, with milliseconds."""
    return None if at is None else at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _text(content: bytes | memoryview, encoding: str) -> tuple[str, bool]:
    raw = bytes(content)
    if encoding == "base64":
        return base64.b64encode(raw).decode(), False
    try:
        return raw.decode("utf-8"), False
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace"), True


def _runtime(execution: Execution) -> dict[str, str] | None:
    if not execution.runtime_version:
        return None
    return {
        "version": execution.runtime_version,
        "image": execution.runtime_image,
        "sandbox": execution.sandbox,
        "sandboxVersion": execution.sandbox_version,
    }


def _compile(execution: Execution) -> dict[str, Any] | None:
    if not execution.compiled:
        return None
    return {
        "exitCode": execution.compile_exit_code,
        "timeMs": execution.compile_time_ms,
        "cached": execution.compile_cached,
    }


def _queue_ms(execution: Execution) -> int | None:
    """From acceptance to the last claim by a worker: what was run before that, and failed, counts as waiting."""
    if execution.started_at is None:
        return None
    return max(0, (execution.started_at - execution.created_at) // timedelta(milliseconds=1))


def _submitted_test(test: Mapping[str, Any]) -> dict[str, Any]:
    stdin = base64.b64decode(test["stdin"])
    shown = {
        "id": test["id"],
        "stdin": encode(stdin, test["stdinEncoding"]),
        "stdinEncoding": test["stdinEncoding"],
        "args": test["args"],
        "limits": {name: test["limits"][key] for name, key in LIMIT_NAMES.items() if key in test["limits"]},
    }
    if test["expected"] is not None:
        shown |= {"expectedStdout": base64.b64decode(test["expected"]).decode(), "checker": test["checker"]}
    return shown


def _file(file: Mapping[str, str]) -> dict[str, str]:
    content = base64.b64decode(file["content"])
    return {"path": file["path"], "content": encode(content, file["encoding"]), "encoding": file["encoding"]}
