"""A customer's server: a real one, on this machine, that answers as it is told and keeps what it got."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook

from executions.webhooks.delivery import attempt, claim_next
from tests.cast import Caller, read


@dataclass
class Receiver:
    """``answers`` are used up one by one, then it is 200. ``got`` are headers in small letters, and the body."""

    url: str = ""
    answers: list[int] = field(default_factory=list)
    body: bytes = b"thanks"
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)

    def verified(self, secret: str) -> list[Any]:
        """The bodies, each after its signature was found right by an implementation that is not ours."""
        return [Webhook(secret).verify(body, headers) for headers, body in self.got]


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(receiver.answers.pop(0) if receiver.answers else 200)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(receiver.body)))
            self.end_headers()
            try:
                self.wfile.write(receiver.body)
            except OSError:
                self.close_connection = True

        def log_message(self, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = False
        receiver.url = f"http://127.0.0.1:{server.server_address[1]}/hook?a=b"
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()


def add_endpoint(caller: Caller, url: str, **more: Any) -> dict[str, Any]:
    response = caller.post("/v1/webhook-endpoints", {"url": url, **more})
    assert response.status_code == 201, response.content
    made: dict[str, Any] = read(response)
    return made


def deliver_due() -> int:
    """What the courier's threads do, in this one. How many were sent is returned."""
    sent = 0
    while (claim := claim_next()) is not None:
        attempt(claim)
        sent += 1
    return sent


def deliveries(caller: Caller, endpoint: dict[str, Any]) -> list[dict[str, Any]]:
    response = caller.get(f"/v1/webhook-endpoints/{endpoint['endpointId']}/deliveries")
    assert response.status_code == 200, response.content
    found: list[dict[str, Any]] = read(response)["data"]
    return found


def bodies(receiver: Receiver) -> list[Any]:
    return [json.loads(body) for _, body in receiver.got]
