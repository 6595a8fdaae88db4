"""Settings from the environment. A value that is missing or makes no sense stops the process and says which one."""

import os
from pathlib import Path
from typing import overload


class BadSetting(Exception):
    """An environment variable is missing or wrong. The message names it, and never its value."""


@overload
def envstr(name: str) -> str: ...
@overload
def envstr(name: str, default: str) -> str: ...
@overload
def envstr(name: str, default: None) -> str | None: ...
def envstr(name: str, default: str | type[BadSetting] | None = BadSetting) -> str | None:
    """The variable's text. One that is empty counts as not set. Without a default it must be set."""
    value = os.environ.get(name, "").strip()
    if value:
        return value
    if default is BadSetting:
        raise BadSetting(f"{name} is not set.")
    assert default is None or isinstance(default, str)
    return default


def envbool(name: str, *, default: bool) -> bool:
    """True for 1/true/yes/on, False for 0/false/no/off, whatever the case. Anything else is refused."""
    value = envstr(name, None)
    if value is None:
        return default
    if value.lower() in {"1", "true", "yes", "on"}:
        return True
    if value.lower() in {"0", "false", "no", "off"}:
        return False
    raise BadSetting(f"{name} must be 1 or 0.")


def envint(name: str, *, default: int, least: int = 0, most: int | None = None) -> int:
    """A whole number within the bounds, both included."""
    value = envstr(name, None)
    if value is None:
        return default
    try:
        number = int(value)
    except ValueError:
        raise BadSetting(f"{name} must be a whole number.") from None
    if number < least or (most is not None and number > most):
        raise BadSetting(
            f"{name} must be {least} or more." if most is None else f"{name} must be from {least} to {most}."
        )
    return number


@overload
def envsecret(name: str) -> str: ...
@overload
def envsecret(name: str, default: str) -> str: ...
def envsecret(name: str, default: str | None = None) -> str:
    """Like `envstr`, or the content of the file that ``NAME_FILE`` names, as orchestrators hand out secrets."""
    path = envstr(f"{name}_FILE", None)
    if path is None:
        return envstr(name) if default is None else envstr(name, default)
    if envstr(name, None) is not None:
        raise BadSetting(f"{name} and {name}_FILE are both set.")
    try:
        value = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise BadSetting(f"{name}_FILE names a file that cannot be read.") from None
    if not value:
        raise BadSetting(f"{name}_FILE names an empty file.")
    return value
