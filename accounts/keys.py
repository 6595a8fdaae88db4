"""API keys: ``cf_live_`` + 36 random characters + 6 characters of checksum.

The first 8 random characters are shown ever after, to tell keys apart; the other 28 carry 166 bits. The checksum lets
secret scanners recognise a key without asking us, and refuses a mistyped one without asking the database. The secret
has so many random bits that one SHA-256 hides it: there is nothing to guess that a slow hash would protect.
"""

import hashlib
import hmac
import re
import secrets
import zlib
from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import Account, ApiKey
from accounts.scopes import SCOPES

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_START = "cf_live_"
_FORM = re.compile(r"cf_live_[0-9A-Za-z]{42}")
_USE_IS_NOTED_EVERY = timedelta(minutes=1)


def make_key(
    *, account: Account, name: str, scopes: Collection[str] = tuple(SCOPES), expires_at: datetime | None = None
) -> tuple[ApiKey, str]:
    """A new key and its secret, which cannot be had again. Without ``scopes`` it may do everything."""
    body = _START + "".join(secrets.choice(_ALPHABET) for _ in range(36))
    secret = body + _checksum(body)
    key = ApiKey.objects.create(
        account=account,
        name=name,
        scopes=[scope for scope in SCOPES if scope in scopes],
        prefix=secret[:16],
        digest=digest(secret),
        expires_at=expires_at,
    )
    return key, secret


def find_key(secret: str) -> ApiKey | None:
    """The key with this secret, with its account, if it is valid now."""
    if not is_well_formed(secret):
        return None
    wanted = digest(secret)
    key = ApiKey.objects.select_related("account").filter(digest=wanted).first()
    if key is None or not hmac.compare_digest(bytes(key.digest), wanted):
        return None
    now = timezone.now()
    if key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= now):
        return None
    return key


def note_use(key: ApiKey, *, address: str = "") -> None:
    """Remember when and from where a key was used, with at most one write a minute however busy it is."""
    now = timezone.now()
    if key.last_used_at is None or now - key.last_used_at > _USE_IS_NOTED_EVERY:
        stale = Q(last_used_at=None) | Q(last_used_at__lt=now - _USE_IS_NOTED_EVERY)
        ApiKey.objects.filter(stale, pk=key.pk).update(last_used_at=now, last_used_address=address or None)


def revoke(key: ApiKey) -> bool:
    """End a key at once and for ever: every request looks it up. False when it had been revoked already."""
    return bool(ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=timezone.now()))


def rotate(key: ApiKey, *, grace: timedelta) -> tuple[ApiKey, str]:
    """A new key that may do the same, and its secret. The old one works on for ``grace``, or until it would have ended.

    The new one is without expiry where the old one was, and otherwise lives as long as the old one did.
    """
    now = timezone.now()
    with transaction.atomic():
        locked = ApiKey.objects.select_for_update().select_related("account").get(pk=key.pk)
        if locked.revoked_at is not None or (locked.expires_at is not None and locked.expires_at <= now):
            raise KeyIsOver
        lifetime = None if locked.expires_at is None else locked.expires_at - locked.created_at
        made = make_key(
            account=locked.account,
            name=locked.name,
            scopes=locked.scopes,
            expires_at=None if lifetime is None else now + lifetime,
        )
        ends = now + grace
        locked.expires_at = ends if locked.expires_at is None else min(ends, locked.expires_at)
        locked.save(update_fields=["expires_at"])
    return made


class KeyIsOver(Exception):
    """It was revoked or has expired: what is over is not rotated."""


def is_well_formed(secret: str) -> bool:
    return _FORM.fullmatch(secret) is not None and hmac.compare_digest(_checksum(secret[:-6]), secret[-6:])


def digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _checksum(body: str) -> str:
    number = zlib.crc32(body.encode())
    letters = ""
    for _ in range(6):
        number, index = divmod(number, 62)
        letters = _ALPHABET[index] + letters
    return letters
