"""Where a webhook may go: to public addresses only, or whoever makes an endpoint could make us ask our own machines.

A name is resolved once for a request, every address that it has is judged, and the connection is made to one of those
very addresses: a name that changes its mind between the look and the connection changes nothing.
"""

import ipaddress
import re
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings

MAX_URL = 2_048
_VISIBLE = re.compile(r"[!-~]+")
_HOST = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9_-]{1,63}(?<!-))*")
# What readers of addresses take for a number: decimal, octal and hexadecimal forms, one to four parts.
_NUMERIC_END = re.compile(r"(.*\.)?(0[xX][0-9A-Fa-f]*|[0-9]+)")
_MAX_ADDRESSES = 4

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Global by the registry, and yet not the same for everybody: relays and tunnels carry an address within the address,
# and one cloud answers its own machines at an address of that kind.
_ROADS_ELSEWHERE = tuple(
    ipaddress.ip_network(network)
    for network in (
        "168.63.129.16/32",
        "192.88.99.0/24",
        "2001::/23",
        "2002::/16",
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "3fff::/20",
    )
)
_UNICAST_V6 = ipaddress.ip_network("2000::/3")


class Refused(Exception):
    """No request goes there. Says why, for the customer."""


@dataclass(frozen=True, slots=True)
class Target:
    """``target`` is what follows the host in the address; ``host`` is without brackets."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.scheme == "https" else 80) else f"{host}:{self.port}"


def read_url(url: str) -> Target:
    """The parts of an address that has the right form. Looks nothing up."""
    if len(url) > MAX_URL:
        raise Refused(f"May have {MAX_URL:,} characters at most.")
    if not _VISIBLE.fullmatch(url) or "\\" in url:
        raise Refused("Must be written in visible ASCII, without backslashes; names as xn--…, the rest as %xx.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise Refused("Not an address.") from None
    schemes = ("https", "http") if settings.CODEFORGE_INSECURE_WEBHOOKS else ("https",)
    if parts.scheme not in schemes:
        raise Refused("Must begin with https://.")
    if "@" in parts.netloc or "#" in url:
        raise Refused("Must have neither user name nor fragment.")
    host = (parts.hostname or "").removesuffix(".")
    if port == 0 or not host or len(host) > 253:
        raise Refused("Not an address.")
    if ":" in host or _NUMERIC_END.fullmatch(host):
        _literal(host)
    elif not _HOST.fullmatch(host):
        raise Refused("Not the name of a host.")
    query = f"?{parts.query}" if parts.query else ""
    return Target(parts.scheme, host, port or (443 if parts.scheme == "https" else 80), (parts.path or "/") + query)


def resolve(target: Target) -> list[str]:
    """The public addresses of the host, the best first. One that is not public among them refuses all."""
    try:
        found = _look_up(target.host, target.port)
    except (OSError, UnicodeError):
        raise Refused("The name of the host cannot be resolved.") from None
    addresses = list(dict.fromkeys(found))
    if not addresses:
        raise Refused("The name of the host cannot be resolved.")
    if not settings.CODEFORGE_INSECURE_WEBHOOKS and not all(is_public(address) for address in addresses):
        raise Refused("The host does not have a public address.")
    return addresses[:_MAX_ADDRESSES]


def is_public(text: str) -> bool:
    """Whether everybody on the Internet means the same machine by it. A form that is not the plain one: no."""
    try:
        address: Address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            return False
        if address.ipv4_mapped is not None:
            return is_public(str(address.ipv4_mapped))
        if address not in _UNICAST_V6:
            return False
    if any(address in network for network in _ROADS_ELSEWHERE):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved)


def _literal(host: str) -> None:
    if "%" in host:
        raise Refused("An address must not name an interface of ours.")
    try:
        ipaddress.ip_address(host)
    except ValueError:
        raise Refused("A numeric host must be a plain IPv4 or IPv6 address.") from None


def _look_up(host: str, port: int) -> list[str]:
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
