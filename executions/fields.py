"""Serializer fields that take a value as it is or refuse it: no "5" for 5, no true for 1, no trimming, no null.

DRF's own fields convert what they can, which turns a client's bug into a program that runs with other input than meant.
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework import serializers
from rest_framework.fields import empty

from codeforge.errors import FieldError, join_path

_KIND = {bool: "a boolean", int: "an integer", float: "a number", str: "a string", list: "a list", dict: "an object"}


def kind_of(value: object) -> str:
    """What JSON calls a value, for messages: the value itself is never repeated."""
    return "null" if value is None else _KIND.get(type(value), "something else")


def expected(kind: str, value: object) -> serializers.ValidationError:
    return serializers.ValidationError(f"Must be {kind}, not {kind_of(value)}.", code="wrong_type")


class _NullIsAnError:
    """Absent means the default; null is a value, and a wrong one."""

    kind: str

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        if data is None:
            raise expected(self.kind, data)
        found: tuple[bool, Any] = super().validate_empty_values(data)  # type: ignore[misc]  # of the field it is mixed into
        return found


class StrictString(_NullIsAnError, serializers.CharField):
    """A string. ``max_bytes`` bounds its length in UTF-8, which is what is stored. NUL is refused unless allowed."""

    kind = "a string"

    def __init__(self, *, max_bytes: int, nul: bool = False, allow_blank: bool = True, **options: Any) -> None:
        self.max_bytes = max_bytes
        self.nul = nul
        # DRF's own check for NUL is one of the validators that it adds; ours names the rule, and can be switched off.
        super().__init__(trim_whitespace=False, allow_blank=allow_blank, **options)
        self.validators = []

    def run_validation(self, data: Any = empty) -> Any:
        done, value = self.validate_empty_values(data)
        return value if done else self.to_internal_value(value)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise expected(self.kind, data)
        if not data and not self.allow_blank:
            raise serializers.ValidationError("Must not be empty.")
        # Cheap first: characters are never more than bytes.
        if len(data) > self.max_bytes or len(data.encode()) > self.max_bytes:
            raise serializers.ValidationError(f"May be {self.max_bytes:,} bytes of UTF-8 at most.")
        if not self.nul and "\0" in data:
            raise serializers.ValidationError("Must not hold NUL (U+0000).")
        return data


class StrictInteger(_NullIsAnError, serializers.IntegerField):
    kind = "an integer"

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int):
            raise expected(self.kind, data)
        return data


class StrictBoolean(_NullIsAnError, serializers.BooleanField):
    kind = "a boolean"

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            raise expected(self.kind, data)
        return data


class StrictNumber(_NullIsAnError, serializers.FloatField):
    kind = "a number"

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool) or not isinstance(data, (int, float)):
            raise expected(self.kind, data)
        return data


class StrictChoice(_NullIsAnError, serializers.ChoiceField):
    kind = "a string"

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise expected(self.kind, data)
        if data not in self.choices:
            raise serializers.ValidationError(f"Must be one of: {', '.join(map(str, self.choices))}.")
        return data


class StrictList(_NullIsAnError, serializers.ListField):
    """A list. Too long a list is refused before its items are looked at."""

    kind = "a list"

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            raise expected(self.kind, data)
        if self.max_length is not None and len(data) > self.max_length:
            raise serializers.ValidationError(f"May have {self.max_length} items at most.")
        if self.min_length is not None and len(data) < self.min_length:
            raise serializers.ValidationError(f"Must have {self.min_length} items at least.")
        return self.run_child_validation(data)


class StrictStringMap(_NullIsAnError, serializers.DictField):
    """An object whose values are strings. Keys and values are bounded in characters."""

    kind = "an object"

    def __init__(self, *, max_pairs: int, max_key: int, max_value: int, **options: Any) -> None:
        self.max_pairs, self.max_key, self.max_value = max_pairs, max_key, max_value
        super().__init__(child=serializers.CharField(max_length=max_value), **options)

    def to_internal_value(self, data: Any) -> dict[str, str]:
        if not isinstance(data, dict):
            raise expected(self.kind, data)
        if len(data) > self.max_pairs:
            raise serializers.ValidationError(f"May have {self.max_pairs} pairs at most.")
        errors = {key: [message] for key, value in data.items() if (message := self._fault(key, value))}
        if errors:
            raise serializers.ValidationError(errors)
        return data

    def _fault(self, key: str, value: Any) -> str | None:
        if not 0 < len(key) <= self.max_key or "\0" in key:
            return f"The name must have 1 to {self.max_key} characters, and no NUL."
        if not isinstance(value, str):
            return f"Must be a string, not {kind_of(value)}."
        if len(value) > self.max_value:
            return f"May have {self.max_value} characters at most."
        return "Must not hold NUL (U+0000)." if "\0" in value else None


class StrictSerializer(_NullIsAnError, serializers.Serializer[Any]):
    """An object with exactly its declared fields. All that is wrong is told at once, not field by field."""

    kind = "an object"

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        return (False, data) if data is None else super().validate_empty_values(data)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            raise serializers.ValidationError({"": [f"Must be {self.kind}, not {kind_of(data)}."]})
        fields = self.fields
        errors: dict[str, Any] = {
            name: ["Unknown field."] for name in data if name not in fields or fields[name].read_only
        }
        values: dict[str, Any] = {}
        for name, field in fields.items():
            try:
                values[str(field.source)] = field.run_validation(data.get(name, empty))
            except serializers.ValidationError as error:
                errors[name] = error.detail
            except serializers.SkipField:
                pass
        for name, message in self.faults(values).items():
            errors.setdefault(name, message)
        if errors:
            raise serializers.ValidationError(errors)
        return values

    def faults(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """What is wrong between fields. ``values`` holds those that are right by themselves, and no others."""
        return {}


def flatten(detail: Any, path: str = "") -> list[FieldError]:
    """DRF's nested errors as a flat list with paths: ``files[2].path``."""
    if isinstance(detail, Mapping):
        return [error for key, inner in detail.items() for error in flatten(inner, join_path(path, key))]
    if isinstance(detail, Sequence) and not isinstance(detail, str):
        return [error for inner in detail for error in flatten(inner, path)]
    return [FieldError(path, str(detail), getattr(detail, "code", ""))]


def decode(text: str, encoding: str) -> bytes:
    """Content that came as a string. `binascii.Error` for what is not strict base64."""
    return base64.b64decode(text.encode("ascii", "replace"), validate=True) if encoding == "base64" else text.encode()


def encode(content: bytes, encoding: str) -> str:
    return base64.b64encode(content).decode() if encoding == "base64" else content.decode("utf-8")
