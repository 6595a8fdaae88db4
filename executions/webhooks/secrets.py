"""Secrets of endpoints, and the signatures that they make (Standard Webhooks 1.0, symmetric).

A secret has to be had again to sign with it, so it cannot be hashed: it is encrypted with a key that is derived from
`SECRET_KEY`, which no dump of the database holds.
"""

import base64
import hashlib
import hmac
import secrets

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

_START = "whsec_"


class SecretLost(Exception):
    """It was encrypted with a `SECRET_KEY` that is neither the present one nor a fallback: rotate it."""


def make_secret() -> str:
    return _START + base64.b64encode(secrets.token_bytes(32)).decode()


def lock(secret: str) -> bytes:
    return _box().encrypt(secret.encode())


def unlock(locked: bytes | memoryview) -> str:
    try:
        return _box().decrypt(bytes(locked)).decode()
    except InvalidToken:
        raise SecretLost from None


def sign(secret: str, *, message_id: str, timestamp: int, body: bytes) -> str:
    """One signature of the header `webhook-signature`, which holds several with a space between."""
    key = base64.b64decode(secret.removeprefix(_START))
    signed = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def _box() -> MultiFernet:
    return MultiFernet([_fernet(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _fernet(key: str | bytes) -> Fernet:
    derived = hmac.new(
        key if isinstance(key, bytes) else key.encode(), b"codeforge webhook secrets", hashlib.sha256
    ).digest()
    return Fernet(base64.urlsafe_b64encode(derived))
