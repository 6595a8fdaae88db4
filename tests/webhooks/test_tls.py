"""The name is asked for, and the certificate must say it; the connection goes to the address that was judged."""

import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pytest_django import Settings

from executions.webhooks import addresses, outgoing


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[dict[str, Any]]:
    """A server of `hooks.example.com` that is trusted here. Says what it was asked: name in TLS, host in HTTP."""
    settings.CODEFORGE_INSECURE_WEBHOOKS = True
    certificate = make_certificate(tmp_path, "hooks.example.com")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setattr(addresses, "_look_up", lambda host, port: ["127.0.0.1"])
    asked: dict[str, Any] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            asked["host"] = self.headers["Host"]
            self.send_response(204)
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda connection, name, _: asked.update(name=name)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        made.daemon_threads = False
        made.socket = context.wrap_socket(made.socket, server_side=True)
        asked["port"] = made.server_address[1]
        thread = threading.Thread(target=made.serve_forever, args=[0.01])
        thread.start()
        try:
            yield asked
        finally:
            made.shutdown()
            thread.join()


def make_certificate(folder: Path, name: str) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    written = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "certificate.pem"
    path.write_bytes(written + made.public_bytes(serialization.Encoding.PEM))
    return path


def test_the_pinned_address_is_asked_by_its_name(server: dict[str, Any]) -> None:
    answer = outgoing.send(f"https://hooks.example.com:{server['port']}/", b"{}", {})
    assert (answer.status, answer.error) == (204, "")
    assert (server["name"], server["host"]) == ("hooks.example.com", f"hooks.example.com:{server['port']}")


def test_a_certificate_of_another_name_is_refused(server: dict[str, Any]) -> None:
    answer = outgoing.send(f"https://other.example.com:{server['port']}/", b"{}", {})
    assert answer.status is None
    assert "certificate is not valid" in answer.error
    assert "host" not in server
