"""One POST to an address that was checked: no redirects, no proxies, little time, a bounded answer.

`http.client` follows nothing and reads nothing from the environment. Its time-outs are for one read each, though, and a
server that sends a byte every few seconds would hold us for days: a watchdog shuts the socket when the time is up.
"""

import http.client
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

from executions.webhooks.addresses import Refused, Target, read_url, resolve

CONNECT_S = 5.0
TOTAL_S = 10.0
MAX_ANSWER = 64 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """``status`` is None when there was no answer, and ``error`` then says why."""

    status: int | None
    body: bytes
    error: str
    took_ms: int

    @property
    def is_success(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def send(url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    """Never raises for what a server or a network may do."""
    began = time.monotonic()

    def answer(status: int | None = None, content: bytes = b"", error: str = "") -> Answer:
        return Answer(status, content, error, int((time.monotonic() - began) * 1_000))

    try:
        target = read_url(url)
        addresses = resolve(target)
    except Refused as refused:
        return answer(error=str(refused))
    try:
        return answer(*_exchange(target, addresses, body, headers))
    except ssl.SSLCertVerificationError as error:
        return answer(error=f"The certificate is not valid: {error.verify_message}."[:200])
    except ssl.SSLError:
        return answer(error="TLS failed.")
    except TimeoutError:
        return answer(error="No answer in time.")
    except http.client.HTTPException:
        return answer(error="The answer is not HTTP.")
    except (OSError, ValueError):
        late = time.monotonic() - began >= TOTAL_S
        return answer(error="No answer in time." if late else "The connection failed.")


def _exchange(target: Target, addresses: list[str], body: bytes, headers: Mapping[str, str]) -> tuple[int, bytes]:
    raw = _connect(addresses, target.port)
    # Of the plain class: TLS would first forget its state, under the hands of the thread that reads.
    is_over = threading.Event()
    watched = raw.dup()
    watchdog = threading.Timer(TOTAL_S, _shut, [watched, is_over])
    watchdog.daemon = True
    watchdog.start()
    connection = http.client.HTTPConnection(target.host, target.port)
    try:
        connection.sock = raw
        if target.scheme == "https":
            # The name is what is asked for and what the certificate must say; the address is the one that was checked.
            connection.sock = ssl.create_default_context().wrap_socket(raw, server_hostname=target.host)
        connection.putrequest("POST", target.target, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": target.host_header, **headers, "Content-Length": str(len(body))}.items():
            connection.putheader(name, value)
        connection.putheader("Connection", "close")
        connection.endheaders(body)
        with connection.getresponse() as response:
            status, content = response.status, response.read(MAX_ANSWER)
        # A socket that was shut in the middle reads like an answer that ends there.
        if is_over.is_set():
            raise TimeoutError
        return status, content
    finally:
        watchdog.cancel()
        watchdog.join()
        watched.close()
        connection.close()
        raw.close()


def _connect(addresses: list[str], port: int) -> socket.socket:
    deadline = time.monotonic() + CONNECT_S
    last: OSError = TimeoutError()
    for address in addresses:
        try:
            return socket.create_connection((address, port), timeout=max(0.1, deadline - time.monotonic()))
        except OSError as error:
            last = error
    raise last


def _shut(watched: socket.socket, is_over: threading.Event) -> None:
    is_over.set()
    try:
        watched.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it has ended by itself
