"""Every malformed request: the problem names the field, and there is no row, no message and no trace in the log."""

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest

from executions.models import Execution
from tests.cast import PROGRAM, Broker, Caller, fields, refused

pytestmark = pytest.mark.django_db

SECRET = "print('the secret program text')"


def body(**changes: Any) -> bytes:
    return json.dumps({"language": "python", "source": SECRET, **changes}).encode()


def raw(text: str) -> bytes:
    return f'{{"language": "python", "source": "{SECRET}", {text}}}'.encode()


FAULTS: dict[str, tuple[bytes, list[str]]] = {
    # Not JSON, or JSON that two readers read differently.
    "nothing": (b"", ["language", "source"]),
    "not json": (SECRET.encode(), [""]),
    "json cut off": (body()[:-1], [""]),
    "something after it": (body() + b"x", [""]),
    "not utf-8": (body().replace(b"secret", b"\xff\xfe"), [""]),
    "utf-16": (body().decode().encode("utf-16"), [""]),
    "byte order mark": (b"\xef\xbb\xbf" + body(), [""]),
    "a list": (b"[]", [""]),
    "a string": (b'"x"', [""]),
    "null": (b"null", [""]),
    "a key twice": (raw('"language": "java"'), ["language"]),
    "a key twice further in": (raw('"limits": {"memoryMb": 64, "memoryMb": 65}'), ["limits.memoryMb"]),
    "a key twice in a list": (raw('"files": [{"path": "a", "path": "b", "content": ""}]'), ["files[0].path"]),
    "NaN": (raw('"limits": {"memoryMb": NaN}'), ["limits.memoryMb"]),
    "Infinity": (raw('"checker": {"type": "float", "tolerance": -Infinity}'), ["checker.tolerance"]),
    "a number that overflows": (raw('"limits": {"memoryMb": 1e999}'), ["limits.memoryMb"]),
    "a number of a million digits": (raw(f'"limits": {{"memoryMb": {"9" * 1_000_000}}}'), ["limits.memoryMb"]),
    "deep lists": (raw('"args": ' + "[" * 100_000 + "]" * 100_000), [""]),
    "deep objects": (raw('"limits": ' + '{"a":' * 100_000 + "1" + "}" * 100_000), [""]),
    "too many values": (raw('"args": [' + "1," * 1_000_000 + "1]"), [""]),
    "half a surrogate pair in the source": (raw(r'"args": ["\ud800"]'), ["args[0]"]),
    "half a surrogate pair in stdin": (raw(r'"stdin": "\udfff"'), ["stdin"]),
    "half a surrogate pair in a key": (raw(r'"metadata": {"\ud800": "x"}'), [r"metadata.\ud800"]),
    # Wrong types are never converted.
    "language is a number": (body(language=3), ["language"]),
    "language is null": (body(language=None), ["language"]),
    "source is a list": (body(source=["x"]), ["source"]),
    "source is null": (body(source=None), ["source"]),
    "stdin is a number": (body(stdin=4), ["stdin"]),
    "args is a string": (body(args="x"), ["args"]),
    "an argument is a number": (body(args=["a", 5]), ["args[1]"]),
    "files is an object": (body(files={}), ["files"]),
    "a file is a string": (body(files=["x"]), ["files[0]"]),
    "limits is a list": (body(limits=[]), ["limits"]),
    "a limit is a string": (body(limits={"memoryMb": "64"}), ["limits.memoryMb"]),
    "a limit is true": (body(limits={"memoryMb": True}), ["limits.memoryMb"]),
    "a limit is a fraction": (body(limits={"memoryMb": 64.0}), ["limits.memoryMb"]),
    "a limit is null": (body(limits={"memoryMb": None}), ["limits.memoryMb"]),
    "options is a string": (body(options="x"), ["options"]),
    "an option is a number": (body(language="cpp", options={"standard": 17}), ["options.standard"]),
    "metadata is a list": (body(metadata=[]), ["metadata"]),
    "a value of metadata is a number": (body(metadata={"a": 1}), ["metadata.a"]),
    "expectedStdout is a number": (body(expectedStdout=1), ["expectedStdout"]),
    "the checker is a string": (body(expectedStdout="", checker="exact"), ["checker"]),
    # Missing and unknown.
    "no language": (json.dumps({"source": SECRET}).encode(), ["language"]),
    "no source": (b'{"language": "python"}', ["source"]),
    "an unknown field": (body(sauce=1), ["sauce"]),
    "an unknown field whose name is program text": (
        json.dumps({"language": "python", "source": "x", "\n\0é": 1}).encode(),
        ["??\\xe9"],
    ),
    "an unknown limit": (body(limits={"cpu": 1}), ["limits.cpu"]),
    "an unknown field of a file": (body(files=[{"path": "a", "content": "", "mode": 7}]), ["files[0].mode"]),
    "an unknown field of the checker": (body(expectedStdout="", checker={"type": "exact", "x": 1}), ["checker.x"]),
    "no tests at all": (body(stdin="", tests=[]), ["tests"]),
    "tests that are no list": (body(stdin="", tests={}), ["tests"]),
    "too many tests": (body(stdin="", tests=[{}] * 201), ["tests"]),
    "a wrong type within a test": (body(stdin="", tests=[{}, {"stdin": 4}]), ["tests[1].stdin"]),
    "an unknown field within a test": (body(stdin="", tests=[{"input": ""}]), ["tests[0].input"]),
    "a compile limit of a test": (
        body(stdin="", tests=[{"limits": {"compileTimeMs": 1}}]),
        ["tests[0].limits.compileTimeMs"],
    ),
    "a checker of a test that expects nothing": (
        body(stdin="", tests=[{"checker": {"type": "exact"}}]),
        ["tests[0].checker"],
    ),
    "two tests of one name": (body(stdin="", tests=[{"id": "a"}, {"id": "a"}]), ["tests[1].id"]),
    "a test with the name of another's place": (body(stdin="", tests=[{"id": "1"}, {}]), ["tests[1].id"]),
    "tests beside a stdin": (body(stdin="4", tests=[{}]), ["stdin"]),
    "tests beside args": (body(stdin="", args=["a"], tests=[{}]), ["args"]),
    "tests beside an empty expected output": (body(expectedStdout="", tests=[{}]), ["expectedStdout"]),
    "tests beside an expected output": (body(stdin="", expectedStdout="4", tests=[{}]), ["expectedStdout"]),
    "tests with too much stdin together": (
        body(stdin="", tests=[{"stdin": "x" * (3 << 20)}, {"stdin": "x" * (2 << 20)}]),
        ["tests"],
    ),
    "stopping at the first failure without tests": (body(stopOnFirstFailure=True), ["stopOnFirstFailure"]),
    "stopping at the first failure with a number": (
        body(stdin="", tests=[{}], stopOnFirstFailure=1),
        ["stopOnFirstFailure"],
    ),
    "an unknown language": (body(language="cobol"), ["language"]),
    "a language in capitals": (body(language="Python"), ["language"]),
    "an option of another language": (body(options={"standard": "c++17"}), ["options.standard"]),
    "an unknown value of an option": (body(language="cpp", options={"standard": "c++98"}), ["options.standard"]),
    "an unknown isolation": (body(isolation="none"), ["isolation"]),
    "an unknown encoding": (body(stdinEncoding="latin-1"), ["stdinEncoding"]),
    "an unknown checker": (body(expectedStdout="", checker={"type": "regex"}), ["checker.type"]),
    "float without a tolerance": (body(expectedStdout="", checker={"type": "float"}), ["checker.tolerance"]),
    "a tolerance that is negative": (
        body(expectedStdout="", checker={"type": "float", "tolerance": -1}),
        ["checker.tolerance"],
    ),
    "a tolerance where there is none": (
        body(expectedStdout="", checker={"type": "exact", "tolerance": 1}),
        ["checker.tolerance"],
    ),
    "a checker of nothing": (body(checker={"type": "exact"}), ["checker"]),
    # NUL.
    "NUL in the source": (body(source="a\0b"), ["source"]),
    "NUL in an argument": (body(args=["\0"]), ["args[0]"]),
    "NUL in metadata": (body(metadata={"a": "\0"}), ["metadata.a"]),
    "NUL in a key of metadata": (body(metadata={"\0": "a"}), ["metadata.?"]),
    "NUL in the version": (body(version="3\0"), ["version"]),
    # Too long, too many, too small.
    "an empty source": (body(source=""), ["source"]),
    "a long source": (body(source="x" * (256 * 1024 + 1)), ["source"]),
    "a source that is long in bytes": (body(source="é" * (128 * 1024 + 1)), ["source"]),
    "a body of 5 MB": (body(source=SECRET * 160_000), ["source"]),
    "a long stdin": (body(stdin="x" * (4 * 1024 * 1024 + 1)), ["stdin"]),
    "a long expectedStdout": (body(expectedStdout="x" * (4 * 1024 * 1024 + 1)), ["expectedStdout"]),
    "many arguments": (body(args=["x"] * 65), ["args"]),
    "a long argument": (body(args=["x" * 40_000]), ["args[0]"]),
    "arguments that are long together": (body(args=["x" * 30_000] * 5), ["args"]),
    "many files": (body(files=[{"path": str(n), "content": ""} for n in range(21)]), ["files"]),
    "files that are long together": (
        body(files=[{"path": str(n), "content": "x" * 600_000} for n in range(2)]),
        ["files"],
    ),
    "much metadata": (body(metadata={str(n): "" for n in range(17)}), ["metadata"]),
    "a long key of metadata": (body(metadata={"k" * 41: ""}), ["metadata." + "k" * 41]),
    "an empty key of metadata": (body(metadata={"": ""}), ["metadata"]),
    "a long value of metadata": (body(metadata={"k": "x" * 501}), ["metadata.k"]),
    "a long version": (body(version="3" * 41), ["version"]),
    "a limit of zero": (body(limits={"wallTimeMs": 0}), ["limits.wallTimeMs"]),
    "a negative limit": (body(limits={"processes": -1}), ["limits.processes"]),
    # Base64 that is none.
    "stdin is not base64": (body(stdin="!!!!", stdinEncoding="base64"), ["stdin"]),
    "stdin is base64 with line breaks": (body(stdin="YWJj\nYWJj", stdinEncoding="base64"), ["stdin"]),
    "stdin is base64 without padding": (body(stdin="YQ", stdinEncoding="base64"), ["stdin"]),
    "stdin is base64 in other letters": (body(stdin="éé==", stdinEncoding="base64"), ["stdin"]),
    "a file is not base64": (body(files=[{"path": "a", "content": "?", "encoding": "base64"}]), ["files[0].content"]),
    # Several at once.
    "everything wrong": (
        body(language="cobol", source=1, stdin=2, limits={"x": 1, "memoryMb": "a"}, files=[{"path": "../a"}]),
        ["language", "source", "stdin", "limits.x", "limits.memoryMb", "files[0].path", "files[0].content"],
    ),
}

PATHS = [
    "",
    "/etc/passwd",
    "../a",
    "a/../b",
    "a/..",
    "./a",
    "a/./b",
    "a//b",
    "a/",
    "/",
    ".",
    "..",
    "a\\b",
    "..\\a",
    "a\0b",
    "a\nb",
    "a\x7f",
    "x" * 256,
    "é" * 128,
    "/".join("x" * 17),
    "main.py",
    "main.py/x",
]


def assert_no_trace(log_text: Callable[[], str], *texts: str) -> None:
    assert not Execution.objects.exists()
    broker = Broker()
    assert broker.waiting() == 0
    broker.close()
    logged = log_text()
    for text in ("the secret program text", *texts):
        assert text not in logged


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_refused_and_named(owner: Caller, log_text: Callable[[], str], name: str) -> None:
    sent, wrong = FAULTS[name]

    problem = refused(owner.request("POST", "/v1/executions", sent), 400, "invalid_request")

    assert sorted(fields(problem)) == sorted(wrong)
    assert "secret" not in json.dumps(problem)
    assert_no_trace(log_text, owner.key)


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_leads_astray_is_refused(owner: Caller, log_text: Callable[[], str], path: str) -> None:
    sent = body(files=[{"path": "fine.txt", "content": ""}, {"path": path, "content": ""}])

    problem = refused(owner.request("POST", "/v1/executions", sent), 400, "invalid_request")

    assert fields(problem) == ["files[1].path"]
    assert_no_trace(log_text, owner.key)


@pytest.mark.parametrize(
    ("paths", "wrong"),
    [
        (["a", "a"], ["files[1].path"]),
        (["a", "a/b"], ["files[1].path"]),
        (["a/b/c", "a/b"], ["files[0].path"]),
        (["a/b", "a"], ["files[0].path"]),
    ],
)
def test_files_that_cannot_lie_together_are_refused(owner: Caller, paths: list[str], wrong: list[str]) -> None:
    sent = body(files=[{"path": path, "content": ""} for path in paths])

    assert fields(refused(owner.request("POST", "/v1/executions", sent), 400, "invalid_request")) == wrong


def test_a_java_file_may_not_have_the_name_that_the_program_gets(owner: Caller) -> None:
    sent = body(language="java", source="public class Task {}", files=[{"path": "Task.java", "content": ""}])
    assert fields(refused(owner.request("POST", "/v1/executions", sent), 400, "invalid_request")) == ["files[0].path"]


def test_files_that_look_alike_may_lie_together(owner: Caller) -> None:
    paths = ["a", "b/a", "b/c/a", "ab", "A", "ä", "x y", "-rf", "~", "b/main.py", "main.py.txt"]
    owner.submit(files=[{"path": path, "content": ""} for path in paths])


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
def test_another_content_type_is_refused(owner: Caller, log_text: Callable[[], str], content_type: str) -> None:
    response = owner.request("POST", "/v1/executions", body(), content_type=content_type)

    assert fields(refused(response, 400, "invalid_request")) == ["Content-Type"]
    assert_no_trace(log_text, owner.key)


@pytest.mark.parametrize("charset", ["latin-1", "utf-16"])
def test_another_character_set_is_refused(owner: Caller, charset: str) -> None:
    response = owner.request("POST", "/v1/executions", body(), content_type=f"application/json; charset={charset}")
    assert fields(refused(response, 400, "invalid_request")) == ["Content-Type"]


def test_utf_8_may_be_named(owner: Caller) -> None:
    response = owner.request("POST", "/v1/executions", body(), content_type='application/json; charset="UTF-8"')
    assert response.status_code == 202


def test_a_compressed_body_is_refused(owner: Caller, log_text: Callable[[], str]) -> None:
    response = owner.request("POST", "/v1/executions", gzip.compress(body()), Content_Encoding="gzip")

    assert fields(refused(response, 400, "invalid_request")) == ["Content-Encoding"]
    assert_no_trace(log_text, owner.key)


def test_a_body_in_chunks_is_refused_and_not_read_as_an_empty_one(owner: Caller) -> None:
    response = owner.request("POST", "/v1/executions", body(), Transfer_Encoding="chunked")
    assert fields(refused(response, 400, "invalid_request")) == ["Transfer-Encoding"]


def test_more_faults_than_anybody_reads_are_counted(owner: Caller, log_text: Callable[[], str]) -> None:
    sent = body(**{f"unknown {number}": 1 for number in range(50_000)})

    response = owner.request("POST", "/v1/executions", sent)

    problem = refused(response, 400, "invalid_request")
    assert len(problem["errors"]) == 51
    assert problem["errors"][-1] == {"field": "", "message": "49,950 more fields are wrong."}
    assert len(response.content) < 10_000
    assert_no_trace(log_text)


def test_a_body_beyond_the_bound_is_refused_unread(owner: Caller, log_text: Callable[[], str]) -> None:
    response = owner.request("POST", "/v1/executions", body(stdin="x" * (16 * 1024 * 1024)))

    refused(response, 413, "payload_too_large")
    assert_no_trace(log_text, owner.key)


@pytest.mark.parametrize("key", ["", " ", "x" * 256, "a b", "é", "a\tb"])
def test_an_idempotency_key_that_is_none_is_refused(owner: Caller, key: str) -> None:
    response = owner.request("POST", "/v1/executions", body(), Idempotency_Key=key)

    assert fields(refused(response, 400, "invalid_request")) == ["Idempotency-Key"]
    assert not Execution.objects.exists()


@pytest.mark.parametrize("wait", ["-1", "61", "60.1", "x", "", "1e1", "nan", "inf", "0x1", "１", "+1", " 1"])
def test_a_wait_that_is_no_time_is_refused(owner: Caller, wait: str) -> None:
    from urllib.parse import quote  # noqa: PLC0415

    response = owner.post(f"/v1/executions?wait={quote(wait)}", PROGRAM)

    assert fields(refused(response, 400, "invalid_request")) == ["wait"]
    assert not Execution.objects.exists()


def test_a_refused_request_leaves_its_idempotency_key_free(owner: Caller) -> None:
    refused(owner.post("/v1/executions", {**PROGRAM, "sauce": 1}, Idempotency_Key="k"), 400, "invalid_request")

    owner.submit(key="k")


def test_program_text_sent_as_a_path_is_not_logged(owner: Caller, log_text: Callable[[], str]) -> None:
    owner.get("/v1/executions?source=secretly")
    assert "secretly" not in log_text()
