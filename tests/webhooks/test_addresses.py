"""Where a webhook may go. Each form in the tables was a way into somebody's network once."""

import socket
from typing import Any

import pytest

from executions.webhooks import addresses, outgoing
from executions.webhooks.models import WebhookEndpoint
from tests.cast import Caller, fields, read, refused

pytestmark = pytest.mark.django_db

NOT_PUBLIC = """
0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 127.0.0.1 127.1.2.3 169.254.169.254 169.254.0.1 172.16.0.1
172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.51.100.7 203.0.113.7 224.0.0.1 239.1.1.1
240.0.0.1 255.255.255.255 100.100.100.200 168.63.129.16
:: ::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:7f00:1 ::127.0.0.1 fe80::1 fe80::1%eth0 fec0::1 fc00::1 fd00:ec2::254
ff02::1 2002:7f00:1:: 2002:a00:1:: 2001:0:7f00:1:: 2001:db8::1 64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b:1::1 100::1
3fff::1 ::ffff:0:127.0.0.1 4000::1
"""

MALFORMED = [
    "http://example.com/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "//example.com/",
    "https://",
    "https:///path",
    "https://user:secret@example.com/",
    "https://example.com@127.0.0.1/",
    "https://example.com/#fragment",
    "https://exa mple.com/",
    "https://example.com/\r\nHost: other",
    "https://example.com/\u00e4",
    "https://ex\u00e4mple.com/",
    "https://example.com\\@127.0.0.1/",
    "https://example.com:0/",
    "https://example.com:65536/",
    "https://example.com:x/",
    "https://[::1/",
    "https://[::1%25eth0]/",
    "https://a..b/",
    "https://-a.com/",
    "https://*.com/",
    "https://" + "a" * 64 + ".com/",
    "https://" + "a." * 130 + "com/",
    # Other ways to write 127.0.0.1.
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.1/",
    "https://017700000001/",
    "https://0177.0.0.1/",
    "https://127.1/",
    "https://127.0.1/",
    "https://127.0.0.1.5/",
    "https://127.0.0.01/",
    "https://0/",
]


def answering(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """A resolver that gives one answer after the other. What was asked is returned."""
    asked: list[str] = []
    left = list(answers)

    def look_up(host: str, port: int) -> list[str]:
        asked.append(host)
        return left.pop(0) if len(left) > 1 else left[0]

    monkeypatch.setattr(addresses, "_look_up", look_up)
    return asked


@pytest.mark.parametrize("address", NOT_PUBLIC.split())
def test_what_is_not_public_is_refused_naming_the_field(
    owner: Caller, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    answering(monkeypatch, ["93.184.216.34", address])
    problem = refused(
        owner.post("/v1/webhook-endpoints", {"url": "https://hooks.example.com/"}), 400, "invalid_request"
    )
    assert fields(problem) == ["url"]
    assert not WebhookEndpoint.objects.exists()


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.0.0.1", "[::1]", "[::ffff:10.0.0.1]", "[fd00::1]", "169.254.169.254"]
)
def test_a_literal_is_judged_like_a_name(owner: Caller, address: str) -> None:
    problem = refused(owner.post("/v1/webhook-endpoints", {"url": f"https://{address}/"}), 400, "invalid_request")
    assert fields(problem) == ["url"]


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1:248:1893:25c8:1946", "::ffff:8.8.8.8"]
)
def test_what_is_public_is_taken(owner: Caller, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    answering(monkeypatch, [address])
    assert owner.post("/v1/webhook-endpoints", {"url": "https://hooks.example.com:8443/a?b"}).status_code == 201


@pytest.mark.parametrize("url", [*MALFORMED, "https://example.com/" + "a" * 2_048, "", "x", "https://a.com/\0"])
def test_a_malformed_or_over_long_address_is_refused_before_anything_is_looked_up(
    owner: Caller, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    asked = answering(monkeypatch, ["93.184.216.34"])
    assert fields(refused(owner.post("/v1/webhook-endpoints", {"url": url}), 400, "invalid_request")) == ["url"]
    assert asked == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "url"),
        ({"url": 1}, "url"),
        ({"url": "https://example.com/", "events": []}, "events"),
        ({"url": "https://example.com/", "events": ["x"]}, "events[0]"),
        ({"url": "https://example.com/", "events": "execution.finished"}, "events"),
        ({"url": "https://example.com/", "description": "x" * 201}, "description"),
        ({"url": "https://example.com/", "secret": "mine"}, "secret"),
    ],
)
def test_every_wrong_field_is_named(owner: Caller, body: dict[str, Any], field: str) -> None:
    assert fields(refused(owner.post("/v1/webhook-endpoints", body), 400, "invalid_request")) == [field]


def test_a_name_that_cannot_be_resolved_is_refused(owner: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(host: str, port: int) -> list[str]:
        raise socket.gaierror

    monkeypatch.setattr(addresses, "_look_up", fail)
    problem = refused(owner.post("/v1/webhook-endpoints", {"url": "https://nowhere.example/"}), 400, "invalid_request")
    assert fields(problem) == ["url"]


def test_a_name_that_turns_to_this_machine_between_check_and_connection_gains_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = answering(monkeypatch, ["93.184.216.34"], ["127.0.0.1"])
    connected: list[str] = []

    def connect(address: tuple[str, int], timeout: float) -> socket.socket:
        connected.append(address[0])
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", connect)
    answer = outgoing.send("https://rebinding.example/", b"{}", {})
    assert (connected, asked) == (["93.184.216.34"], ["rebinding.example"])
    assert answer.error == "The connection failed."

    # What looks a name up again for the connection, as every plain client does, ends at the second answer.
    naive = addresses._look_up("rebinding.example", 443)
    assert naive == ["127.0.0.1"]
    assert outgoing.send("https://rebinding.example/", b"{}", {}).error == "The host does not have a public address."
    assert connected == ["93.184.216.34"]


def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    answering(monkeypatch, ["93.184.216.34"])
    connected: list[str] = []

    def connect(address: tuple[str, int], timeout: float) -> socket.socket:
        connected.append(address[0])
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", connect)
    outgoing.send("https://hooks.example.com/", b"{}", {})
    assert connected == ["93.184.216.34"]


def test_an_account_has_twenty_endpoints_at_most(owner: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, ["93.184.216.34"])
    for number in range(20):
        assert owner.post("/v1/webhook-endpoints", {"url": f"https://example.com/{number}"}).status_code == 201
    refused(owner.post("/v1/webhook-endpoints", {"url": "https://example.com/"}), 400, "invalid_request")
    assert len(read(owner.get("/v1/webhook-endpoints"))["data"]) == 20
