"""Reads an evaluation: one JSON object, or JSON Lines. What is wrong is refused before anything runs, with its place.

As JSON Lines the first line is the header, without `problems` and `candidates`; the others are problems and candidates
in any order, told apart by `problemId`, which candidates have. Lines are read one by one, and bounded one by one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, TypeGuard

from rest_framework import serializers
from rest_framework.parsers import BaseParser

from codeforge.errors import MAX_ERRORS, FieldError, InvalidRequest, PayloadTooLarge, join_path
from executions.evaluations.presets import PRESETS
from executions.fields import (
    StrictBoolean,
    StrictChoice,
    StrictInteger,
    StrictList,
    StrictSerializer,
    StrictString,
    StrictStringMap,
    flatten,
)
from executions.serializers import (
    ISOLATIONS,
    MAX_SOURCE_BYTES,
    MAX_TESTS,
    CheckerSerializer,
    RequestedLimitsSerializer,
    RequestedTestSerializer,
    refusal,
)
from executions.strict_json import parse
from sandbox.catalogue import catalogue
from sandbox.job import Isolation

MAX_CANDIDATES = 50_000
MAX_PROBLEMS = 10_000
MAX_K = 1_000
MAX_LINE_BYTES = 16 * 1024 * 1024
MAX_BODY_BYTES = 128 * 1024 * 1024
_NAME_BYTES = 200


class HeaderSerializer(StrictSerializer):
    """What holds for the whole evaluation."""

    name = StrictString(max_bytes=100, default="")
    language = StrictChoice(choices=list(catalogue()))
    version = StrictString(max_bytes=40, default="")
    k = StrictList(child=StrictInteger(min_value=1, max_value=MAX_K), min_length=1, max_length=20, default=lambda: [1])
    isolation = StrictChoice(choices=ISOLATIONS, default=Isolation.EXECUTION.value)
    limits = RequestedLimitsSerializer(default=dict)
    options = StrictStringMap(max_pairs=16, max_key=40, max_value=100, default=dict)
    dryRun = StrictBoolean(source="dry_run", default=False, help_text="Tells what it would cost, and runs nothing.")
    resume = StrictBoolean(default=False, help_text="Goes on with an earlier evaluation of the same content.")


class ProblemSerializer(StrictSerializer):
    """With `tests` (input and expected output), or with a `preset` and its `test` code."""

    id = StrictString(max_bytes=_NAME_BYTES, allow_blank=False)
    tests = StrictList(child=RequestedTestSerializer(), min_length=1, max_length=MAX_TESTS, required=False)
    checker = CheckerSerializer(required=False)
    preset = StrictChoice(choices=list(PRESETS), required=False)
    prompt = StrictString(max_bytes=MAX_SOURCE_BYTES, required=False)
    test = StrictString(max_bytes=MAX_SOURCE_BYTES, required=False)
    entryPoint = StrictString(source="entry_point", max_bytes=200, required=False)

    def faults(self, values: Mapping[str, Any]) -> dict[str, Any]:
        if ("tests" in values) == ("preset" in values):
            return {"tests": ["Give either `tests`, or a `preset` with its `test`."]}
        if "tests" in values:
            only = {"prompt": "prompt", "test": "test", "entryPoint": "entry_point"}
            return {name: ["Only with a `preset`."] for name, key in only.items() if key in values}
        faults = {}
        if not values.get("test"):
            faults["test"] = ["Needed with a `preset`."]
        if "checker" in values:
            faults["checker"] = ["Only with `tests`."]
        entry_point = values.get("entry_point")
        if PRESETS[values["preset"]].needs_entry_point and not (entry_point or "").isidentifier():
            faults["entryPoint"] = ["Needed here: the name of the function."]
        return faults


@dataclass(slots=True)
class GivenCandidate:
    """``place`` is where it stands in the request, for refusals."""

    place: str
    name: str
    text: str


@dataclass(slots=True)
class GivenProblem:
    place: str
    name: str
    asked: Mapping[str, Any]
    candidates: list[GivenCandidate] = field(default_factory=list)


@dataclass(slots=True)
class Given:
    """A valid request, in its own words."""

    header: Mapping[str, Any]
    problems: list[GivenProblem]


class Lines:
    """A body of JSON Lines, as (number, value), read while it is gone through."""

    def __init__(self, stream: IO[bytes], length: int | None) -> None:
        if length is not None and length > MAX_BODY_BYTES:
            raise PayloadTooLarge
        self._stream = stream
        self._length = length

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        number = read = 0
        while line := self._stream.readline(MAX_LINE_BYTES + 1):
            number += 1
            read += len(line)
            if len(line) > MAX_LINE_BYTES:
                raise _line(number, f"Longer than {MAX_LINE_BYTES:,} bytes.")
            if read > MAX_BODY_BYTES:
                raise PayloadTooLarge
            if not line.strip():
                continue
            try:
                yield number, parse(line)
            except InvalidRequest as refusal:
                raise InvalidRequest(
                    FieldError(_at(f"line {number}", error.field), error.message) for error in refusal.errors
                ) from None
        if self._length is not None and read < self._length:
            raise _line(number, "The body ends in the middle: less came than Content-Length says.")


class LinesParser(BaseParser):
    """DRF's door to `Lines`."""

    media_type = "application/x-ndjson"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        assert parser_context is not None
        request = parser_context["request"]
        if request.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise InvalidRequest([FieldError("Content-Encoding", "Compressed bodies are not taken.")])
        length = request.META.get("CONTENT_LENGTH") or ""
        return Lines(stream, int(length) if length.isdecimal() else None)


def read(body: Any, *, context: Mapping[str, Any]) -> Given:
    """The request, looked at whole. Raises `InvalidRequest` (or `LimitAbovePlan`) with every fault and its place."""
    reader = _Reader(context)
    if isinstance(body, Lines):
        reader.read_lines(body)
    else:
        reader.read_object(body)
    return reader.finish()


class _Reader:
    """Collects what is given, and what is wrong with it."""

    def __init__(self, context: Mapping[str, Any]) -> None:
        self._context = context
        self._errors: list[FieldError] = []
        self._header: Mapping[str, Any] | None = None
        self._problems: dict[str, GivenProblem] = {}
        self._candidates: list[tuple[str, GivenCandidate]] = []  # with the id of its problem
        self._names: set[tuple[str, str]] = set()

    def read_lines(self, lines: Lines) -> None:
        for number, value in lines:
            place = f"line {number}"
            if self._header is None:
                self._read_header(value, place)
            elif isinstance(value, dict) and "problemId" in value:
                self._read_candidate(value, place)
            else:
                self._read_problem(value, place)
            if len(self._errors) >= MAX_ERRORS:
                break

    def read_object(self, body: Any) -> None:
        if not isinstance(body, dict):
            raise InvalidRequest([FieldError("", "Must be an object.")])
        header = {name: value for name, value in body.items() if name not in {"problems", "candidates"}}
        self._read_header(header, "")
        for name, read_one in (("problems", self._read_problem), ("candidates", self._read_candidate)):
            given = body.get(name)
            if not isinstance(given, list):
                self._fault(name, "Must be a list.")
                continue
            for index, value in enumerate(given):
                read_one(value, f"{name}[{index}]")

    def finish(self) -> Given:
        if self._header is None and not self._errors:
            self._fault("line 1", "The header is missing.")
        for name, candidate in self._candidates:
            problem = self._problems.get(name)
            if problem is None:
                self._fault(f"{candidate.place}.problemId", "There is no such problem.")
            else:
                problem.candidates.append(candidate)
        if not self._errors:
            self._look_at_the_whole()
        if self._errors:
            raise refusal(self._errors, self._context["entitlements"])
        assert self._header is not None
        return Given(self._header, list(self._problems.values()))

    def _look_at_the_whole(self) -> None:
        assert self._header is not None
        if not self._problems:
            self._fault("problems", "There is none.")
        largest = max(self._header["k"])
        for problem in self._problems.values():
            if not problem.candidates:
                self._fault(problem.place, "The problem has no candidate.")
            elif len(problem.candidates) < largest:
                number = len(problem.candidates)
                self._fault(problem.place, f"Has {number} candidates: pass@{largest} needs {largest} or more.")
            languages = PRESETS[problem.asked["preset"]].languages if "preset" in problem.asked else None
            if languages is not None and self._header["language"] not in languages:
                self._fault(f"{problem.place}.preset", f"Is for: {', '.join(sorted(languages))}.")

    def _read_header(self, value: Any, place: str) -> None:
        serializer = HeaderSerializer(data=value, context=dict(self._context))
        if not serializer.is_valid():
            self._faults(serializer, place)
            self._header = {}
            return
        self._header = serializer.validated_data

    def _read_problem(self, value: Any, place: str) -> None:
        serializer = ProblemSerializer(data=value, context=dict(self._context))
        if not serializer.is_valid():
            self._faults(serializer, place)
            return
        name = serializer.validated_data["id"]
        if name in self._problems:
            self._fault(_at(place, "id"), "Another problem has this id.")
        elif len(self._problems) >= MAX_PROBLEMS:
            self._fault(place, f"More than {MAX_PROBLEMS:,} problems.")
        else:
            self._problems[name] = GivenProblem(place, name, serializer.validated_data)

    def _read_candidate(self, value: Any, place: str) -> None:
        """By hand: there may be fifty thousand."""
        if not isinstance(value, dict):
            self._fault(place, "Must be an object.")
            return
        for unknown in value.keys() - {"problemId", "id", "source", "completion"}:
            self._fault(_at(place, join_path("", unknown)), "Unknown field.")
        problem, name = value.get("problemId"), value.get("id", str(len(self._candidates)))
        texts = [value[key] for key in ("source", "completion") if key in value]
        if not _is_name(problem):
            self._fault(_at(place, "problemId"), f"Must be a string of 1 to {_NAME_BYTES} bytes.")
        elif not _is_name(name):
            self._fault(_at(place, "id"), f"Must be a string of 1 to {_NAME_BYTES} bytes.")
        elif len(texts) != 1:
            self._fault(_at(place, "source"), "Give either `source` or `completion`.")
        elif not isinstance(texts[0], str) or "\0" in texts[0]:
            self._fault(_at(place, "source"), "Must be a string without NUL.")
        elif not texts[0].strip():
            self._fault(_at(place, "source"), "Must not be empty.")
        elif len(self._candidates) >= MAX_CANDIDATES:
            self._fault(place, f"More than {MAX_CANDIDATES:,} candidates.")
        elif (problem, name) in self._names:
            self._fault(_at(place, "id"), "Another candidate of the problem has this id.")
        else:
            self._names.add((problem, name))
            self._candidates.append((problem, GivenCandidate(place, name, texts[0])))

    def _faults(self, serializer: serializers.Serializer[Any], place: str) -> None:
        for error in flatten(serializer.errors):
            self._errors.append(FieldError(_at(place, error.field), error.message, error.code))

    def _fault(self, place: str, message: str) -> None:
        self._errors.append(FieldError(place, message))


def _is_name(value: Any) -> TypeGuard[str]:
    return (
        isinstance(value, str) and 1 <= len(value.encode("utf-8", "surrogatepass")) <= _NAME_BYTES and "\0" not in value
    )


def _at(place: str, name: str) -> str:
    return f"{place}.{name}" if place and name else place or name


def _line(number: int, message: str) -> InvalidRequest:
    return InvalidRequest([FieldError(f"line {number}", message)])
