import contextlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeforge.errors import InvalidRequest, join_path
from executions.strict_json import MAX_INTEGER, parse

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MAX_INTEGER, MAX_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=20,
)


def depth(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


@given(JSON.filter(lambda value: depth(value) <= 16))
def test_what_is_json_is_read_as_python_reads_it(value: object) -> None:
    for ascii_only in (True, False):
        assert parse(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@given(st.binary())
def test_whatever_comes_is_read_or_refused(body: bytes) -> None:
    with contextlib.suppress(InvalidRequest):
        parse(body)


@given(st.text('[]{}",:\\ab01.eE-+ \n', max_size=60))
def test_what_is_nearly_json_is_read_or_refused(text: str) -> None:
    try:
        parsed = parse(text.encode())
    except InvalidRequest:
        return
    assert parsed == json.loads(text)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 1_000_000,
        b'{"a":' * 1_000_000,
        b'"' + b"\\" * 2_000_000,
        b'"' * 2_000_001,
        b'"' + b'\\"' * 2_000_000,
        b'["' + b'\\"' * 2_000_000 + b'"',
        b"[" + b'"",' * 3_000_000,
        b"[" + b"9" * 10_000_000 + b"]",
        b'"' + b"\\u0041" * 2_000_000,
        b"[" + b"{}," * 3_000_000,
        b"-" * 1_000_000,
    ],
)
def test_no_body_takes_long_to_refuse(body: bytes) -> None:
    started = time.process_time()
    with pytest.raises(InvalidRequest):
        parse(body)
    assert time.process_time() - started < 2


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse(b'{"a": NaN, "b": [1e999, {"c": 1, "c": 2}], "d": "\\ud800", "e": 99999999999999999999}')
    assert [error.field for error in refused.value.errors] == ["a", "b[0]", "b[1].c", "d", "e"]


def test_a_million_faults_are_not_all_told() -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse(b"[" + b",".join([b"NaN"] * 10_000) + b"]")
    told = refused.value.members["errors"]
    assert len(told) == 51
    assert told[-1] == {"field": "", "message": "9,950 more fields are wrong."}


@given(st.text(), st.text())
def test_a_path_is_printable_and_short(path: str, key: str) -> None:
    shown = join_path("", key)
    assert shown.isprintable()
    assert shown.isascii()
    assert len(shown) <= 80
