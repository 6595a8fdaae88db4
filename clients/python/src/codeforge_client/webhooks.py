"""Checks that a webhook comes from us: Standard Webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Any, Mapping, Union

from codeforge_client.errors import CodeForgeError

TOLERANCE_S = 300


class NotFromUs(CodeForgeError):
    """A signature that is wrong, missing, or of another time."""


def verify(body: Union[str, bytes], headers: Mapping[str, str], secret: str, *, now: float = 0) -> Any:
    """The event of a webhook. ``body`` as it came, to the byte. Raises `NotFromUs`."""
    raw = body.encode() if isinstance(body, str) else body
    given = {name.lower(): value for name, value in headers.items()}
    try:
        sent_at = int(given["webhook-timestamp"])
        key = base64.b64decode(secret.removeprefix("whsec_"))
        signed = f"{given['webhook-id']}.{sent_at}.".encode() + raw
        signatures = given["webhook-signature"].split()
    except (KeyError, ValueError, binascii.Error):
        raise NotFromUs("The webhook's headers are missing or malformed.") from None
    if abs((now or time.time()) - sent_at) > TOLERANCE_S:
        raise NotFromUs("The webhook was sent too long ago, or a clock is wrong.")
    wanted = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    # All of them: while a secret is rotated there are two.
    if not any([hmac.compare_digest(wanted, signature) for signature in signatures]):
        raise NotFromUs("The webhook's signature is wrong.")
    return json.loads(raw)
