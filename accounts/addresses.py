"""E-mail addresses as people type them, and the ones that only look alike."""

import unicodedata

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

MAX_LENGTH = 254


def clean_address(text: str) -> str:
    """The address as it is stored: the domain in small letters. `ValidationError` says what is wrong with it.

    Only ASCII is taken. An address with Cyrillic letters may look the same as one without, and a mail server that
    normalises would deliver one person's mail to another: what cannot be told apart is not let in.
    """
    address = text.strip()
    if not address.isascii():
        raise ValidationError("Use an address of plain letters, digits and signs (ASCII).", code="lookalike")
    if len(address) > MAX_LENGTH:
        raise ValidationError(f"An address has {MAX_LENGTH} characters at most.", code="too_long")
    validate_email(address)
    local, _, domain = address.rpartition("@")
    return f"{local}@{domain.lower()}"


def clean_name(text: str) -> str:
    """A name in one line. Control characters, line breaks and marks that turn the direction of text are refused."""
    name = text.strip()
    if any(unicodedata.category(letter) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} for letter in name):
        raise ValidationError("Use letters, digits and signs that can be seen, in one line.", code="control")
    return name
