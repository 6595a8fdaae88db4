from ipaddress import ip_network
from typing import Any

import pytest
from redis.exceptions import ConnectionError as RedisIsAway

from accounts import rates
from accounts.keys import make_key
from codeforge.proxies import client_address
from tests.cast import PROGRAM, Caller, allow, read, refused

pytestmark = pytest.mark.django_db


def test_every_answer_says_what_is_left_of_the_minute(owner: Caller) -> None:
    first, second = owner.get("/v1/usage"), owner.get("/v1/usage")
    assert first.headers["RateLimit-Policy"] == '"reads";q=6000;w=60'
    assert first.headers["RateLimit"].startswith('"reads";r=5999;t=')
    assert second.headers["RateLimit"].startswith('"reads";r=5998;t=')
    assert owner.post("/v1/executions", {}).headers["RateLimit"].startswith('"writes";r=1199;t=')


def test_too_many_in_a_minute_are_refused_and_told_when_to_come_again(owner: Caller) -> None:
    allow(reads_per_minute=2)
    assert [owner.get("/v1/usage").status_code for _ in range(3)] == [200, 200, 429]
    response = owner.get("/v1/usage")
    problem = refused(response, 429, "rate_limited")
    assert problem["limit"] == 2
    assert 1 <= int(response.headers["Retry-After"]) <= 60
    assert response.headers["RateLimit"].startswith('"reads";r=0;t=')


def test_reads_and_writes_and_keys_are_counted_apart(owner: Caller) -> None:
    allow(reads_per_minute=1, writes_per_minute=1)
    assert owner.get("/v1/usage").status_code == 200
    assert owner.post("/v1/executions", PROGRAM).status_code == 202
    assert owner.get("/v1/usage").status_code == 429
    assert owner.post("/v1/executions", PROGRAM).status_code == 429
    _, secret = make_key(account=owner.account, name="another")
    assert Caller(owner.account, secret).get("/v1/usage").status_code == 200


def test_a_refused_request_has_done_nothing(owner: Caller) -> None:
    allow(writes_per_minute=1)
    owner.submit(key="a")
    assert owner.post("/v1/executions", PROGRAM, Idempotency_Key="b").status_code == 429
    assert read(owner.get("/v1/usage"))["concurrency"]["queued"] == 1


def test_without_limit_nothing_is_counted(owner: Caller) -> None:
    allow(reads_per_minute=None)
    assert "RateLimit" not in owner.get("/v1/usage").headers


def test_an_address_without_a_key_has_a_rate_of_its_own(visitor: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "PUBLIC_READS", 1)
    assert visitor.get("/v1/runtimes").status_code == 200
    refused(visitor.get("/v1/runtimes"), 429, "rate_limited")


def test_without_redis_work_is_accepted_and_a_metric_says_that_rates_are_not_counted(
    owner: Caller, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow(writes_per_minute=1, monthly_runs=3)
    settings.CODEFORGE_METRICS_TOKEN = "token"
    tries = 0

    def away(*arguments: object, **options: object) -> None:
        nonlocal tries
        tries += 1
        raise RedisIsAway

    monkeypatch.setattr("django.core.cache.backends.redis.RedisCache.add", away)
    monkeypatch.setattr("django.core.cache.backends.redis.RedisCache.get", away)
    assert [owner.post("/v1/executions", PROGRAM).status_code for _ in range(4)] == [202, 202, 202, 402]
    assert tries == 1
    metrics = Caller(owner.account, "token").get("/metrics").content.decode()
    assert "codeforge_rates_enforced 0.0" in metrics


def test_with_redis_the_metric_says_so(owner: Caller, settings: Any) -> None:
    settings.CODEFORGE_METRICS_TOKEN = "token"
    assert "codeforge_rates_enforced 1.0" in Caller(owner.account, "token").get("/metrics").content.decode()


@pytest.mark.parametrize(
    ("peer", "said", "client"),
    [
        ("203.0.113.9", "", "203.0.113.9"),
        ("203.0.113.9", "198.51.100.1", "203.0.113.9"),  # not a proxy of ours: its word is nothing
        ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "1.1.1.1, 198.51.100.1", "198.51.100.1"),  # the client's own word stands left
        ("10.0.0.1", "198.51.100.1, 10.0.0.2", "198.51.100.1"),
        ("10.0.0.1", "198.51.100.1, nonsense", "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "10.0.0.3,10.0.0.2", "10.0.0.3"),
        ("10.0.0.1", "2001:db8::1", "2001:db8::1"),
        ("::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("", "198.51.100.1", ""),
    ],
)
def test_the_address_behind_proxies_is_the_first_that_is_none_of_ours(peer: str, said: str, client: str) -> None:
    assert client_address(peer, said, [ip_network("10.0.0.0/8")]) == client


def test_a_client_that_forges_the_header_keeps_its_own_rate(visitor: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "PUBLIC_READS", 1)
    assert visitor.get("/v1/runtimes", X_Forwarded_For="198.51.100.1").status_code == 200
    assert visitor.get("/v1/runtimes", X_Forwarded_For="198.51.100.2").status_code == 429
