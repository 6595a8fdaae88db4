import pytest
from hypothesis import given
from hypothesis import strategies as st

from executions.checkers import matches

EXACT, TRIMMED, TOKENS = {"type": "exact"}, {"type": "trimmed"}, {"type": "tokens"}


def near(tolerance: float) -> dict[str, object]:
    return {"type": "float", "tolerance": tolerance}


CASES = [
    (EXACT, b"a\n", b"a\n", True),
    (EXACT, b"a\n", b"a", False),
    (EXACT, b"\xff\0", b"\xff\0", True),
    (TRIMMED, b"a \t\r\nb\n\n\n", b"a\nb", True),
    (TRIMMED, b" a", b"a", False),
    (TRIMMED, b"a\n\nb", b"a\nb", False),
    (TRIMMED, b"a  b", b"a b", False),
    (TRIMMED, b"", b"\n\n", True),
    (TRIMMED, b"\n a", b"a", False),
    (TRIMMED, b"\xc2\xa0", b"", False),
    (TRIMMED, b"\0", b"", False),
    (TOKENS, b" 1  2\n3 ", b"1 2 3", True),
    (TOKENS, b"12", b"1 2", False),
    (TOKENS, b"A", b"a", False),
    (TOKENS, b"", b" \n", True),
    (near(0.01), b"1.005", b"1", True),
    (near(0.01), b"1.02", b"1", False),
    (near(0.01), b"1000005", b"1000000", True),
    (near(0), b"1.0", b"1.00", True),
    (near(0), b"1e3", b"1000", True),
    (near(0.1), b"x 1", b"x 1.05", True),
    (near(0.1), b"x 1", b"y 1", False),
    (near(0.1), b"1 2", b"1", False),
    (near(0.1), b"nan", b"NaN", True),
    (near(0.1), b"nan", b"1", False),
    (near(0.1), b"inf", b"1", False),
    (near(0.1), b"inf", b"Inf", True),
    (near(1e9), b"inf", b"-inf", False),
    (near(0.1), b"1_0", b"10", False),
    (near(0.1), "١".encode(), b"1", False),
    (near(0.1), b"\xff", b"\xff", True),
    (near(0.1), b"1e999999999", b"1", False),
    (near(0.1), b"1e9999999999999999999", b"1e9999999999999999999", True),
    (near(0.1), b"9" * 1_000_000, b"1", False),
    (near(1e-9), b"0.30000000000000004", b"0.3", True),
    (near(0), b"-0", b"0", True),
]


@pytest.mark.parametrize(("checker", "actual", "expected", "right"), CASES)
def test_it_decides(checker: dict[str, object], actual: bytes, expected: bytes, right: bool) -> None:
    assert matches(actual=actual, expected=expected, checker=checker) is right


@given(st.binary(), st.binary(), st.sampled_from([EXACT, TRIMMED, TOKENS, near(0.5)]))
def test_no_output_breaks_it(actual: bytes, expected: bytes, checker: dict[str, object]) -> None:
    matches(actual=actual, expected=expected, checker=checker)


@given(st.binary())
def test_what_is_equal_is_right_for_every_checker(output: bytes) -> None:
    for checker in (EXACT, TRIMMED, TOKENS, near(0)):
        assert matches(actual=output, expected=output, checker=checker)


@given(st.lists(st.integers() | st.floats(allow_nan=False, allow_infinity=False)))
def test_a_looser_checker_takes_what_a_stricter_one_takes(numbers: list[float]) -> None:
    text = " ".join(map(str, numbers)).encode()
    loose = text.replace(b" ", b"\n  ") + b"\n"
    assert matches(actual=loose, expected=text, checker=TOKENS)
    assert matches(actual=loose, expected=text, checker=near(0))
