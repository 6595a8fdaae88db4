"""The mails that CodeForge writes. Plain text, from `templates/mail/`: the first line is the subject."""

import logging
import unicodedata
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string

logger = logging.getLogger(__name__)

_posting = ThreadPoolExecutor(max_workers=2, thread_name_prefix="mail")


def send(template: str, *, to: str, context: Mapping[str, Any]) -> bool:
    """Write to one person. False when it could not be sent, which is logged: whoever asked can ask again."""
    text = render_to_string(f"mail/{template}.txt", {"base_url": settings.CODEFORGE_BASE_URL, **context})
    subject, _, body = text.partition("\n")
    message = EmailMessage(subject=one_line(subject), body=body.lstrip("\n"), to=[to])
    try:
        message.send()
    except Exception:  # the backend's own errors, and whatever the network has
        logger.exception("A mail could not be sent: %s", template)
        return False
    return True


def post(message: EmailMessage) -> None:
    """Send from another thread, for answers that must not tell by their time whether there was anything to send."""
    _posting.submit(_send, message)


def _send(message: EmailMessage) -> None:
    try:
        message.send()
    except Exception:
        logger.exception("A mail could not be sent.")


def one_line(text: str) -> str:
    """What somebody typed, for a subject or a salutation: a line break in it would begin a header of its own."""
    return " ".join("".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in text).split())
