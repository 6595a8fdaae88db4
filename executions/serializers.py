"""Requests: shape and size. What comes out is what `executions.submission` stores."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework import serializers

from accounts.entitlements import Entitlements
from codeforge.errors import FieldError, InvalidRequest, LimitAbovePlan
from executions.fields import (
    StrictBoolean,
    StrictChoice,
    StrictInteger,
    StrictList,
    StrictNumber,
    StrictSerializer,
    StrictString,
    StrictStringMap,
    decode,
    flatten,
)
from executions.paths import MAX_PATH_BYTES, conflicts, fault_of
from executions.versions import is_ever_offered, is_version_of, offered
from sandbox.catalogue import catalogue
from sandbox.job import Isolation
from sandbox.naming import name_source

MAX_SOURCE_BYTES = 256 * 1024
MAX_STDIN_BYTES = 4 * 1024 * 1024
MAX_FILES = 20
MAX_FILES_BYTES = 1024 * 1024
MAX_ARGS = 64
MAX_ARG_BYTES = 32 * 1024
MAX_ARGS_BYTES = 128 * 1024
MAX_TESTS = 200
MAX_BATCH = 1_000
ENCODINGS = ("utf-8", "base64")
ISOLATIONS = [isolation.value for isolation in Isolation]
CHECKERS = ("exact", "trimmed", "tokens", "float")

# The names of limits in the API, and in the sandbox.
LIMIT_NAMES: Mapping[str, str] = {
    "wallTimeMs": "wall_time_ms",
    "cpuTimeMs": "cpu_time_ms",
    "compileTimeMs": "compile_time_ms",
    "memoryMb": "memory_mb",
    "processes": "processes",
    "outputBytes": "output_bytes",
    "diskMb": "disk_mb",
}
_ABOVE = "above_plan"


def _base64_size(size: int) -> int:
    return (size + 2) // 3 * 4


class FileSerializer(StrictSerializer):
    """A file that lies beside the program."""

    path = StrictString(
        max_bytes=MAX_PATH_BYTES, allow_blank=False, nul=True, help_text="Relative, with / and no `..`."
    )
    content = StrictString(max_bytes=_base64_size(MAX_FILES_BYTES), nul=True)
    encoding = StrictChoice(choices=ENCODINGS, default="utf-8")

    def faults(self, values: Mapping[str, Any]) -> dict[str, Any]:
        faults: dict[str, Any] = {}
        if "path" in values and (fault := fault_of(values["path"])):
            faults["path"] = [fault]
        if "content" in values and "encoding" in values and not _decodes(values["content"], values["encoding"]):
            faults["content"] = ["Not base64."]
        return faults


class CheckerSerializer(StrictSerializer):
    """How the output is compared with the expected one."""

    type = StrictChoice(
        choices=CHECKERS,
        help_text=(
            "`exact`: byte for byte. `trimmed`: white space at the end of lines and empty lines at the end do not "
            "count. `tokens`: the words, whatever lies between them. `float`: the words, numbers within `tolerance`."
        ),
    )
    tolerance = StrictNumber(
        min_value=0, max_value=1e9, required=False, help_text="For `float`: absolute, or relative to what is expected."
    )

    def faults(self, values: Mapping[str, Any]) -> dict[str, Any]:
        if values.get("type") == "float" and "tolerance" not in values:
            return {"tolerance": ["Needed with `float`."]}
        if values.get("type") in CHECKERS[:3] and "tolerance" in values:
            return {"tolerance": ["Only `float` has one."]}
        return {}


class RequestedLimitsSerializer(StrictSerializer):
    """Times in milliseconds, memory and disk in MiB. What is not given is the plan's default."""

    wallTimeMs = StrictInteger(source="wall_time_ms", required=False, help_text="Time on the clock.")
    cpuTimeMs = StrictInteger(source="cpu_time_ms", required=False, help_text="CPU time of all its processes.")
    compileTimeMs = StrictInteger(
        source="compile_time_ms",
        required=False,
        help_text="CPU time of the compiler; on the clock it may take twice that.",
    )
    memoryMb = StrictInteger(source="memory_mb", required=False)
    processes = StrictInteger(required=False, help_text="Processes and threads together.")
    outputBytes = StrictInteger(source="output_bytes", required=False, help_text="Of stdout and of stderr, each.")
    diskMb = StrictInteger(source="disk_mb", required=False, help_text="Of the working directory.")

    def faults(self, values: Mapping[str, Any]) -> dict[str, Any]:
        entitled: Entitlements = self.context["entitlements"]
        faults: dict[str, Any] = {}
        for name, key in LIMIT_NAMES.items():
            if key in values:
                allowed = entitled.limits[key]
                if values[key] < allowed.least:
                    faults[name] = [f"Must be {allowed.least} or more."]
                elif values[key] > allowed.ceiling:
                    message = f"The plan allows {allowed.ceiling} at most."
                    faults[name] = [serializers.ErrorDetail(message, code=_ABOVE)]
        return faults


class RequestedTestLimitsSerializer(RequestedLimitsSerializer):
    """What a test may use, where it differs from the limits of the whole."""

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        del fields["compileTimeMs"]  # there is one compile step, and it is not the test's
        return fields


class RequestedTestSerializer(StrictSerializer):
    """One run of the program, in a process tree, a working directory and a `/tmp` of its own."""

    id = StrictString(max_bytes=100, allow_blank=False, required=False, help_text="Its place, from 0, if not given.")
    stdin = StrictString(
        max_bytes=_base64_size(MAX_STDIN_BYTES),
        nul=True,
        default="",
        help_text="Of all tests together, 4 MiB at most.",
    )
    stdinEncoding = StrictChoice(source="stdin_encoding", choices=ENCODINGS, default="utf-8")
    args = StrictList(
        child=StrictString(max_bytes=MAX_ARG_BYTES),
        max_length=MAX_ARGS,
        default=list,
        help_text="32 KiB each and 128 KiB together at most.",
    )
    expectedStdout = StrictString(source="expected_stdout", max_bytes=MAX_STDIN_BYTES, nul=True, required=False)
    checker = CheckerSerializer(required=False, help_text="The execution's, if not given.")
    limits = RequestedTestLimitsSerializer(default=dict)

    def faults(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return _stdin_faults(values) | _args_faults(values) | _checker_faults(values)


class ExecutionRequestSerializer(StrictSerializer):
    """A program to run."""

    language = StrictChoice(choices=list(catalogue()))
    version = StrictString(
        max_bytes=40,
        default="",
        help_text='A version from `GET /v1/runtimes` or a prefix: `"3"`, `"3.13"`. The newest.',
    )
    files = StrictList(child=FileSerializer(), max_length=MAX_FILES, default=list, help_text="1 MiB together at most.")
    stdin = StrictString(
        max_bytes=_base64_size(MAX_STDIN_BYTES), nul=True, default="", help_text="Given byte for byte; 4 MiB at most."
    )
    stdinEncoding = StrictChoice(source="stdin_encoding", choices=ENCODINGS, default="utf-8")
    args = StrictList(
        child=StrictString(max_bytes=MAX_ARG_BYTES),
        max_length=MAX_ARGS,
        default=list,
        help_text="32 KiB each and 128 KiB together at most.",
    )
    options = StrictStringMap(
        max_pairs=16, max_key=40, max_value=100, default=dict, help_text='Of the language: C++ `{"standard": "c++17"}`.'
    )
    limits = RequestedLimitsSerializer(default=dict)
    expectedStdout = StrictString(
        source="expected_stdout", max_bytes=MAX_STDIN_BYTES, nul=True, required=False, help_text="Then `passed` is set."
    )
    checker = CheckerSerializer(required=False)
    tests = StrictList(
        child=RequestedTestSerializer(),
        min_length=1,
        max_length=MAX_TESTS,
        required=False,
        help_text="Instead of `stdin`, `args`, `expectedStdout`: the program is compiled once and run for each.",
    )
    stopOnFirstFailure = StrictBoolean(source="stop_on_first_failure", required=False, help_text="With `tests`.")
    isolation = StrictChoice(
        choices=ISOLATIONS,
        default=Isolation.EXECUTION.value,
        help_text="`execution`: a sandbox of its own, destroyed afterwards. `account`: one that has only ever run this "
        "account's programs may be used again, which is faster.",
    )
    metadata = StrictStringMap(
        max_pairs=16, max_key=40, max_value=500, default=dict, help_text="Returned, and to filter by."
    )

    def get_fields(self) -> dict[str, Any]:
        # As an attribute, `source` would hide `Field.source`.
        text = StrictString(max_bytes=MAX_SOURCE_BYTES, allow_blank=False, help_text="The program; 256 KiB at most.")
        fields = super().get_fields()
        return {"language": fields.pop("language"), "version": fields.pop("version"), "source": text, **fields}

    def faults(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return (
            _stdin_faults(values)
            | _args_faults(values)
            | _runtime_faults(values)
            | _language_faults(values, self.context["entitlements"])
            | _file_faults(values)
            | (_test_faults(values) if "tests" in values else _checker_faults(values) | _stop_faults(values))
        )


class BatchRequestSerializer(StrictSerializer):
    """Programs to run, all or none."""

    executions = StrictList(
        child=ExecutionRequestSerializer(), min_length=1, max_length=MAX_BATCH, help_text="Each as for a single one."
    )
    metadata = StrictStringMap(max_pairs=16, max_key=40, max_value=500, default=dict, help_text="Returned.")


def _language_faults(values: Mapping[str, Any], entitled: Entitlements) -> dict[str, Any]:
    if values.get("language", next(iter(entitled.languages))) in entitled.languages:
        return {}
    return {"language": [f"The plan has: {', '.join(sorted(entitled.languages))}."]}


def _test_faults(values: Mapping[str, Any]) -> dict[str, Any]:
    """With tests, each test has its own input; the checker is the default of all."""
    given = {
        "stdin": bool(values.get("stdin")),
        "args": bool(values.get("args")),
        "expectedStdout": "expected_stdout" in values,
    }
    faults: dict[str, Any] = {
        name: ["Not together with `tests`: each test has its own."] for name, is_given in given.items() if is_given
    }
    seen: set[str] = set()
    for index, test in enumerate(values["tests"]):
        name = test.get("id", str(index))
        if name in seen:
            faults.setdefault("tests", {})[index] = {"id": ["Another test has this id."]}
        seen.add(name)
    total = sum(len(decode(test["stdin"], test["stdin_encoding"])) for test in values["tests"])
    if total > MAX_STDIN_BYTES:
        faults["tests"] = [f"Their stdin may be {MAX_STDIN_BYTES:,} bytes together at most."]
    return faults


def _stop_faults(values: Mapping[str, Any]) -> dict[str, Any]:
    return {"stopOnFirstFailure": ["Needs `tests`."]} if "stop_on_first_failure" in values else {}


def _stdin_faults(values: Mapping[str, Any]) -> dict[str, Any]:
    if "stdin" not in values or "stdin_encoding" not in values:
        return {}
    if not _decodes(values["stdin"], values["stdin_encoding"]):
        return {"stdin": ["Not base64."]}
    if len(decode(values["stdin"], values["stdin_encoding"])) > MAX_STDIN_BYTES:
        return {"stdin": [f"May be {MAX_STDIN_BYTES:,} bytes at most."]}
    return {}


def _args_faults(values: Mapping[str, Any]) -> dict[str, Any]:
    if sum(len(arg.encode()) for arg in values.get("args", ())) > MAX_ARGS_BYTES:
        return {"args": [f"May be {MAX_ARGS_BYTES:,} bytes together at most."]}
    return {}


def _checker_faults(values: Mapping[str, Any]) -> dict[str, Any]:
    if "checker" in values and "expected_stdout" not in values:
        return {"checker": ["Needs `expectedStdout`."]}
    return {}


def _runtime_faults(values: Mapping[str, Any]) -> dict[str, Any]:
    """Options and version are the language's own."""
    if "language" not in values:
        return {}
    runtime = catalogue()[values["language"]]
    if not is_ever_offered(runtime.language):
        # It would wait for ever for a worker that there is not.
        return {"language": [f"Must be one of those that are offered here: {', '.join(sorted(offered()))}."]}
    faults: dict[str, Any] = {}
    for name, chosen in values.get("options", {}).items():
        if name not in runtime.options:
            faults.setdefault("options", {})[name] = [f"{runtime.title} has no such option."]
        elif chosen not in runtime.options[name].values:
            faults.setdefault("options", {})[name] = [f"Must be one of: {', '.join(runtime.options[name].values)}."]
    asked = values.get("version", "")
    if asked:
        versions = [found.version for found in offered().get(runtime.language, ())]
        if not any(is_version_of(asked=asked, offered=version) for version in versions):
            faults["version"] = [f"Must be one of these, or a prefix: {', '.join(versions) or 'none is offered now'}."]
    return faults


def _file_faults(values: Mapping[str, Any]) -> dict[str, Any]:
    files = values.get("files", ())
    if sum(len(decode(file["content"], file["encoding"])) for file in files) > MAX_FILES_BYTES:
        return {"files": [f"May be {MAX_FILES_BYTES:,} bytes together at most."]}
    source_name = None
    if "language" in values and "source" in values:
        source_name = name_source(catalogue()[values["language"]], values["source"]).file
    found = conflicts([file["path"] for file in files], source_name=source_name)
    return {"files": {index: {"path": [message]} for index, message in found.items()}} if found else {}


def _decodes(text: str, encoding: str) -> bool:
    try:
        decode(text, encoding)
    except binascii.Error:
        return False
    return True


def read_execution(body: Any, *, entitled: Entitlements) -> dict[str, Any]:
    """The valid request, by the names of the model. `InvalidRequest` or `LimitAbovePlan` name every wrong field."""
    serializer = ExecutionRequestSerializer(data=body, context={"entitlements": entitled})
    if not serializer.is_valid():
        raise refusal(flatten(serializer.errors), entitled)
    return _stored(serializer.validated_data, entitled)


def read_batch(body: Any, *, entitled: Entitlements) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The valid executions of a batch, and its metadata. Refuses as `read_execution`, with the place of each field."""
    serializer = BatchRequestSerializer(data=body, context={"entitlements": entitled})
    if not serializer.is_valid():
        raise refusal(flatten(serializer.errors), entitled)
    asked = serializer.validated_data
    return [_stored(execution, entitled) for execution in asked["executions"]], asked["metadata"]


def _stored(asked: Mapping[str, Any], entitled: Entitlements) -> dict[str, Any]:
    """By the names of the model."""
    expected_stdout = asked.get("expected_stdout")
    return {
        "language": asked["language"],
        "version": asked["version"],
        "source": asked["source"],
        "files": [_stored_file(file) for file in asked["files"]],
        "stdin": decode(asked["stdin"], asked["stdin_encoding"]),
        "args": asked["args"],
        "options": asked["options"],
        "limits": {name: allowed.default for name, allowed in entitled.limits.items()} | asked["limits"],
        "expected_stdout": None if expected_stdout is None else expected_stdout.encode(),
        "checker": asked.get("checker", _DEFAULT_CHECKER) if expected_stdout is not None or "tests" in asked else None,
        "tests": [_stored_test(test, index, asked) for index, test in enumerate(asked["tests"])]
        if "tests" in asked
        else None,
        "tests_total": len(asked["tests"]) if "tests" in asked else None,
        "stop_on_first_failure": asked.get("stop_on_first_failure", False),
        "isolation": asked["isolation"],
        "metadata": asked["metadata"],
    }


_DEFAULT_CHECKER = {"type": "trimmed"}


def stored_tests(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Valid ``tests`` with their ``checker``, by the names of the model."""
    return {
        "checker": asked.get("checker", _DEFAULT_CHECKER),
        "tests": [_stored_test(test, index, asked) for index, test in enumerate(asked["tests"])],
        "tests_total": len(asked["tests"]),
    }


def _stored_test(test: Mapping[str, Any], index: int, asked: Mapping[str, Any]) -> dict[str, Any]:
    expected = test.get("expected_stdout")
    return {
        "id": test.get("id", str(index)),
        "stdin": base64.b64encode(decode(test["stdin"], test["stdin_encoding"])).decode(),
        "stdinEncoding": test["stdin_encoding"],
        "args": test["args"],
        "expected": None if expected is None else base64.b64encode(expected.encode()).decode(),
        "checker": test.get("checker", asked.get("checker", _DEFAULT_CHECKER)),
        "limits": test["limits"],
    }


def _stored_file(file: Mapping[str, str]) -> dict[str, str]:
    """Content always as base64, which JSON holds; the encoding that it came in is kept for showing it again."""
    content = base64.b64encode(decode(file["content"], file["encoding"])).decode()
    return {"path": file["path"], "content": content, "encoding": file["encoding"]}


def refusal(errors: Sequence[FieldError], entitled: Entitlements) -> InvalidRequest | LimitAbovePlan:
    """Of a request with these faults: when all are limits above the plan, the answer says what the plan allows."""
    if all(error.code == _ABOVE for error in errors):
        names = {error.field.rpartition(".")[2] for error in errors}  # of `limits` and of `tests[3].limits`
        ceilings = {name: entitled.limits[key].ceiling for name, key in LIMIT_NAMES.items() if name in names}
        return LimitAbovePlan(errors, ceilings)
    return InvalidRequest(errors)
