"""Request rates: of a key for reads and for writes, of an address where nobody is known yet.

Counted by django-ratelimit in Redis, in windows of a minute. When Redis does not answer, nothing is refused for its
rate: a customer's work must not stop because a counter is away. Quotas are counted by the database and hold on.
"""

import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.core.cache import cache
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django_ratelimit.core import get_usage
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from accounts.entitlements import entitlements
from accounts.models import ApiKey
from codeforge.errors import RateLimited

logger = logging.getLogger(__name__)

WINDOW_S = 60
# What an address may do in a minute without a key: read what is public; try a password; ask for a mail.
PUBLIC_READS = 600
SIGN_IN_TRIES = 20
MAILS = 10
_READS = frozenset({"GET", "HEAD", "OPTIONS"})

# After a failure, nobody waits for Redis again for this long.
_REST_S = 5.0
_rests_until = 0.0


@dataclass(frozen=True, slots=True)
class Spent:
    """What is left of a rate after a request. ``resets_in_s`` is never 0."""

    name: str
    limit: int
    remaining: int
    resets_in_s: int
    is_over: bool

    @property
    def headers(self) -> Mapping[str, str]:
        """As the IETF's draft on RateLimit headers has them."""
        return {
            "RateLimit-Policy": f'"{self.name}";q={self.limit};w={WINDOW_S}',
            "RateLimit": f'"{self.name}";r={self.remaining};t={self.resets_in_s}',
        }


def spend(request: HttpRequest, *, name: str, of: str, limit: int) -> Spent | None:
    """Count a request of ``of`` (a key, an address). None when nothing can be counted now."""
    global _rests_until  # noqa: PLW0603  one state per process, and a race only costs one more try
    if time.monotonic() < _rests_until:
        return None
    try:
        usage = get_usage(
            request,
            group=name,
            key=lambda *_: of,
            rate=lambda *_: (limit, WINDOW_S),
            increment=True,
        )
    except (RedisError, OSError) as error:
        _rests_until = time.monotonic() + _REST_S
        logger.warning("Redis cannot be reached (%s): rates are not enforced.", type(error).__qualname__)
        return None
    if usage is None:
        return None
    # The library lets the window's last second pass with a 0; the answer must not say "at once" when it is not so.
    resets_in_s = max(1, math.ceil(usage["time_left"]))
    return Spent(name, limit, max(0, limit - usage["count"]), resets_in_s, bool(usage["should_limit"]))


def are_enforced() -> bool:
    """Whether Redis counts at the moment."""
    try:
        cache.get("rates")
    except (RedisError, OSError):
        return False
    return True


class KeyRate(BaseThrottle):
    """DRF's door. Every answer says what is left; too much is `RateLimited`."""

    def allow_request(self, request: Request, view: Any) -> bool:
        name = "reads" if request.method in _READS else "writes"
        if isinstance(request.auth, ApiKey):
            entitled = entitlements(request.auth.account)
            limit = entitled.reads_per_minute if name == "reads" else entitled.writes_per_minute
            of = f"key {request.auth.pk}"
        else:
            limit, of = PUBLIC_READS, f"address {address_of(request)}"
        if limit is None:
            return True
        spent = spend(request._request, name=name, of=of, limit=limit)  # noqa: SLF001  Django's request inside of DRF's
        if spent is not None:
            view.headers |= spent.headers
            if spent.is_over:
                raise RateLimited(limit=limit, retry_after_s=spent.resets_in_s)
        return True


Page = Callable[..., HttpResponseBase]


def per_address(name: str, limit: int) -> Callable[[Page], Page]:
    """For pages: at most ``limit`` forms a minute from one address. Looking at the form is free."""

    def decorate(page: Page) -> Page:
        @wraps(page)
        def rated(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.method == "POST":
                spent = spend(request, name=name, of=f"address {address_of(request)}", limit=limit)
                if spent is not None and spent.is_over:
                    raise RateLimited(limit=limit, retry_after_s=spent.resets_in_s)
            return page(request, *args, **kwargs)

        return rated

    return decorate


def address_of(request: HttpRequest | Request) -> str:
    """Who asks; behind proxies of ours, whom they ask for: `codeforge.proxies` has put it there."""
    return str(request.META.get("REMOTE_ADDR", ""))
