"""The address of whoever asks, when a proxy stands in front.

``X-Forwarded-For`` may be sent by anybody. It is believed from the right, for as long as the one who says it is a
proxy of ours (CODEFORGE_TRUSTED_PROXIES): the first address that is not is the client, and what stands left of it is
the client's own word.
"""

from collections.abc import Callable
from ipaddress import IPv4Network, IPv6Network, ip_address

from django.conf import settings
from django.http import HttpRequest, HttpResponse

Network = IPv4Network | IPv6Network


class ClientAddressMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        said = request.META.get("REMOTE_ADDR", "")
        request.META["REMOTE_ADDR"] = client_address(
            said, request.headers.get("X-Forwarded-For", ""), settings.CODEFORGE_TRUSTED_PROXIES
        )
        return self.get_response(request)


def client_address(peer: str, forwarded_for: str, trusted: list[Network]) -> str:
    """``peer`` is who holds the connection. What is no address ends the search: whoever said it is the client then."""
    address = peer
    hops = [hop.strip() for hop in forwarded_for.split(",")] if forwarded_for else []
    while hops and _is_in(address, trusted):
        try:
            address = str(ip_address(hops.pop()))
        except ValueError:
            break
    return address


def _is_in(address: str, networks: list[Network]) -> bool:
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)
    return any((mapped or parsed) in network for network in networks)
