"""Bytes of a program or its output, as text that a page can show: nothing in it acts, and nothing in it hides."""

import unicodedata
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers import get_lexer_by_name

SHOWN_BYTES = 64 * 1024
_HTML = HtmlFormatter(nowrap=True, classprefix="hl-")
_KEPT = frozenset("\n\t")
# Control characters have pictures of their own in Unicode: ESC is shown as ␛.
_PICTURES = {number: chr(0x2400 + number) for number in range(32) if chr(number) not in _KEPT} | {127: "␡"}


@dataclass(frozen=True, slots=True)
class Shown:
    """``left_out`` bytes at the end are not shown; ``is_lossy`` says that some are not UTF-8."""

    text: str
    left_out: int
    is_lossy: bool


def show(content: bytes | memoryview | str) -> Shown:
    raw = content.encode() if isinstance(content, str) else bytes(content)
    kept = raw[:SHOWN_BYTES]
    decoded = kept.decode("utf-8", "replace")
    # A cut in the middle of a letter is ours, and not the program's.
    if len(raw) > len(kept):
        decoded = decoded.rstrip("\ufffd")
    return Shown(visible(decoded), len(raw) - len(kept), "\ufffd" in decoded)


def visible(text: str) -> str:
    """Control characters as their pictures; what turns the direction of text, or is invisible, as its number."""
    translated = text.translate(_PICTURES)
    if translated.isascii():
        return translated
    return "".join(
        f"⟨U+{ord(letter):04X}⟩" if unicodedata.category(letter) in {"Cf", "Cc", "Zl", "Zp"} else letter
        for letter in translated
    )


def highlighted(text: str, language: str) -> SafeString:
    """A program as HTML: words in spans with classes, everything else escaped by Pygments. It is `visible` before."""
    lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    return mark_safe(highlight(text, lexer, _HTML))  # noqa: S308  the formatter escapes all that it is given
