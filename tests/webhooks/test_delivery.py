import socket
import threading
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.http import HttpResponse
from pytest_django import Settings

from executions import lifecycle
from executions.models import Execution
from executions.webhooks import courier, delivery, outbox, outgoing
from executions.webhooks.models import WebhookDelivery, WebhookEndpoint
from tests.cast import Caller, Workbench, read, refused
from tests.conftest import Clock
from tests.webhooks.receiver import Receiver, add_endpoint, deliver_due, deliveries

pytestmark = pytest.mark.django_db


def test_the_end_of_a_run_is_told_as_the_api_shows_it(owner: Caller, workbench: Workbench, receiver: Receiver) -> None:
    endpoint = add_endpoint(owner, receiver.url)
    shown = owner.submit(metadata={"a": "b"})
    workbench.run_all()

    assert deliver_due() == 1

    (told,) = receiver.verified(endpoint["secret"])
    assert told["type"] == "execution.finished"
    assert told["data"] == owner.look(shown["executionId"])
    headers, _ = receiver.got[0]
    assert headers["content-type"] == "application/json"
    (kept,) = deliveries(owner, endpoint)
    assert (kept["state"], kept["messageId"], kept["subjectId"]) == (
        "DELIVERED",
        headers["webhook-id"],
        shown["executionId"],
    )
    assert [(made["status"], made["answer"], made["error"]) for made in kept["attempts"]] == [(200, "thanks", None)]


def test_a_run_that_is_cancelled_is_told_too(owner: Caller, receiver: Receiver) -> None:
    endpoint = add_endpoint(owner, receiver.url)
    shown = owner.submit()
    owner.post(f"/v1/executions/{shown['executionId']}/cancel")
    deliver_due()
    assert [told["data"]["status"] for told in receiver.verified(endpoint["secret"])] == ["CANCELLED"]


def test_a_receiver_that_fails_five_times_gets_it_once_marked_delivered(
    owner: Caller, workbench: Workbench, receiver: Receiver, clock: Clock
) -> None:
    endpoint = add_endpoint(owner, receiver.url)
    receiver.answers = [500, 503, 404, 302, 429]
    receiver.headers = {"Location": receiver.url}
    owner.submit()
    workbench.run_all()
    assert deliver_due() == 1
    for pause in delivery.PAUSES[:5]:
        due = clock.at + pause
        clock.move(due - timedelta(milliseconds=1))
        assert deliver_due() == 0, "Not before its time."
        clock.move(due)
        assert deliver_due() == 1
    clock.move(days=2)
    assert deliver_due() == 0

    assert len(receiver.got) == 6
    (kept,) = deliveries(owner, endpoint)
    assert kept["state"] == "DELIVERED"
    assert [made["status"] for made in kept["attempts"]] == [500, 503, 404, 302, 429, 200]
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1
    assert len({body for _, body in receiver.got}) == 1


def test_after_a_day_it_is_given_up_and_can_be_asked_for_again(
    owner: Caller, workbench: Workbench, receiver: Receiver, clock: Clock
) -> None:
    endpoint = add_endpoint(owner, receiver.url)
    receiver.answers = [500] * (len(delivery.PAUSES) + 1)
    owner.submit()
    workbench.run_all()
    began = clock.at
    while deliver_due():
        pending = WebhookDelivery.objects.get()
        if pending.next_attempt_at:
            assert pending.next_attempt_at - began < timedelta(days=1)
            clock.move(pending.next_attempt_at)
    assert clock.at - began > timedelta(hours=23)
    (kept,) = deliveries(owner, endpoint)
    assert (kept["state"], kept["nextAttemptAt"], len(kept["attempts"])) == ("FAILED", None, 11)

    again = owner.post(f"/v1/webhook-endpoints/{endpoint['endpointId']}/deliveries/{kept['deliveryId']}/redeliver")
    assert (again.status_code, read(again)["state"]) == (202, "PENDING")
    assert deliver_due() == 1
    (kept,) = deliveries(owner, endpoint)
    assert (kept["state"], len(kept["attempts"])) == ("DELIVERED", 12)
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1


def test_what_ends_and_what_is_told_of_it_are_one_transaction(
    owner: Caller, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_endpoint(owner, receiver.url)
    shown = owner.submit()

    def fail(*args: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(outbox, "wake_on_commit", fail)
    with pytest.raises(RuntimeError):
        lifecycle.cancel(uuid.UUID(shown["executionId"]))
    assert owner.look(shown["executionId"])["status"] == "QUEUED"
    assert not WebhookDelivery.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_without_a_broker_nothing_is_lost_and_threads_deliver(
    owner: Caller, receiver: Receiver, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = add_endpoint(owner, receiver.url)
    shown = owner.submit()

    def away(*args: object, **options: object) -> None:
        raise ConnectionError

    with monkeypatch.context() as broken:
        broken.setattr("celery.current_app.send_task", away)
        assert owner.post(f"/v1/executions/{shown['executionId']}/cancel").status_code == 200
    courier.start_due()
    courier._threads().shutdown()
    courier._threads.cache_clear()
    assert [told["data"]["executionId"] for told in receiver.verified(endpoint["secret"])] == [shown["executionId"]]


def test_a_courier_that_died_is_followed_by_another_and_writes_nothing_when_it_returns(
    owner: Caller, receiver: Receiver, clock: Clock
) -> None:
    endpoint = add_endpoint(owner, receiver.url)
    owner.post(f"/v1/webhook-endpoints/{endpoint['endpointId']}/test")
    first = delivery.claim_next()
    assert first is not None
    assert delivery.claim_next() is None
    clock.move(seconds=61)
    assert deliver_due() == 1
    delivery.attempt(first)
    (kept,) = deliveries(owner, endpoint)
    assert [made["number"] for made in kept["attempts"]] == [2]
    assert {headers["webhook-id"] for headers, _ in receiver.got} == {kept["messageId"]}


def test_a_slow_endpoint_leaves_room_for_the_others(owner: Caller, receiver: Receiver) -> None:
    slow, other = add_endpoint(owner, receiver.url), add_endpoint(owner, receiver.url)
    for endpoint in (slow, slow, slow, other):
        owner.post(f"/v1/webhook-endpoints/{endpoint['endpointId']}/test")
    claimed = [delivery.claim_next() for _ in range(4)]
    assert [claim and str(claim.endpoint_id) for claim in claimed] == [
        slow["endpointId"],
        slow["endpointId"],
        other["endpointId"],
        None,
    ]


def test_what_was_erased_is_not_told(owner: Caller, workbench: Workbench, receiver: Receiver) -> None:
    endpoint = add_endpoint(owner, receiver.url)
    shown = owner.submit()
    workbench.run_all()
    owner.delete(f"/v1/executions/{shown['executionId']}")
    deliver_due()
    assert receiver.got == []
    (kept,) = deliveries(owner, endpoint)
    assert kept["state"] == "FAILED"
    assert "erased" in kept["attempts"][0]["error"]


def test_for_a_day_after_a_rotation_both_secrets_verify_and_then_the_new_one_only(
    owner: Caller, receiver: Receiver, clock: Clock
) -> None:
    endpoint = add_endpoint(owner, receiver.url)
    path = f"/v1/webhook-endpoints/{endpoint['endpointId']}"
    new = read(owner.post(f"{path}/rotate"))["secret"]
    assert new != endpoint["secret"]
    owner.post(f"{path}/test")
    deliver_due()
    assert receiver.verified(endpoint["secret"]) == receiver.verified(new) != []
    receiver.got.clear()
    clock.move(hours=25)
    owner.post(f"{path}/test")
    deliver_due()
    assert len(receiver.got[0][0]["webhook-signature"].split()) == 1


def test_secrets_are_shown_once_and_stored_encrypted(owner: Caller, receiver: Receiver) -> None:
    secret = add_endpoint(owner, receiver.url)["secret"]
    assert secret.startswith("whsec_")
    assert "secret" not in read(owner.get("/v1/webhook-endpoints"))["data"][0]
    assert secret.encode() not in bytes(WebhookEndpoint.objects.get().secret)


def test_a_repeated_key_makes_no_second_endpoint(owner: Caller, receiver: Receiver) -> None:
    def post(url: str) -> HttpResponse:
        return owner.post("/v1/webhook-endpoints", {"url": url}, Idempotency_Key="k")

    first, again = read(post(receiver.url)), read(post(receiver.url))
    assert first == again
    refused(post(receiver.url + "other"), 422, "idempotency_key_reused")
    assert WebhookEndpoint.objects.count() == 1
    owner.delete(f"/v1/webhook-endpoints/{first['endpointId']}")
    assert read(post(receiver.url))["endpointId"] != first["endpointId"]


def test_a_removed_endpoint_hears_nothing_more(owner: Caller, workbench: Workbench, receiver: Receiver) -> None:
    endpoint = add_endpoint(owner, receiver.url)
    owner.submit()
    workbench.run_all()
    path = f"/v1/webhook-endpoints/{endpoint['endpointId']}"
    assert owner.delete(path).status_code == 204
    owner.submit()
    workbench.run_all()
    assert deliver_due() == 0
    assert receiver.got == []
    assert [owner.get(path).status_code, owner.delete(path).status_code] == [404, 404]


def test_a_long_answer_is_cut_and_a_redirect_is_not_followed(owner: Caller, receiver: Receiver) -> None:
    endpoint = add_endpoint(owner, receiver.url)
    receiver.body = b"x" * 1_000_000
    receiver.answers = [307]
    receiver.headers = {"Location": receiver.url}
    owner.post(f"/v1/webhook-endpoints/{endpoint['endpointId']}/test")
    deliver_due()
    (kept,) = deliveries(owner, endpoint)
    assert len(receiver.got) == 1
    assert kept["attempts"][0]["status"] == 307
    assert len(kept["attempts"][0]["answer"]) == 8 * 1024


def test_a_server_that_trickles_is_left_when_the_time_is_up(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CODEFORGE_INSECURE_WEBHOOKS = True
    monkeypatch.setattr(outgoing, "TOTAL_S", 0.3)
    over = threading.Event()

    def trickle(server: socket.socket) -> None:
        peer, _ = server.accept()
        with peer:
            peer.sendall(b"HTTP/1.1 200 OK\r\nX: ")
            while not over.wait(0.05):
                try:
                    peer.sendall(b"x")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=trickle, args=[server])
        thread.start()
        answer = outgoing.send(f"http://127.0.0.1:{server.getsockname()[1]}/", b"{}", {})
        over.set()
        thread.join()
    assert (answer.status, answer.error) == (None, "No answer in time.")


def test_old_deliveries_are_forgotten(owner: Caller, workbench: Workbench, receiver: Receiver, clock: Clock) -> None:
    endpoint = add_endpoint(owner, receiver.url)
    owner.submit()
    workbench.run_all()
    deliver_due()
    clock.move(days=31)
    assert outbox.remove_old() == 1
    assert deliveries(owner, endpoint) == []
    assert Execution.objects.count() == 1
    assert connection.in_atomic_block


def test_nobody_sees_or_changes_the_endpoints_of_others(owner: Caller, stranger: Caller, receiver: Receiver) -> None:
    endpoint = add_endpoint(owner, receiver.url)
    owner.post(f"/v1/webhook-endpoints/{endpoint['endpointId']}/test")
    deliver_due()
    (kept,) = deliveries(owner, endpoint)
    path = f"/v1/webhook-endpoints/{endpoint['endpointId']}"
    assert read(stranger.get("/v1/webhook-endpoints"))["data"] == []
    asked = [stranger.get(path), stranger.delete(path), stranger.get(f"{path}/deliveries")]
    asked += [stranger.post(f"{path}/{action}") for action in ("rotate", "test")]
    asked.append(stranger.post(f"{path}/deliveries/{kept['deliveryId']}/redeliver"))
    assert {response.status_code for response in asked} == {404}
    own = add_endpoint(stranger, receiver.url)
    mixed = f"/v1/webhook-endpoints/{own['endpointId']}/deliveries/{kept['deliveryId']}/redeliver"
    assert stranger.post(mixed).status_code == 404
    assert len(deliveries(owner, endpoint)) == 1
