import re

import pytest
from django.test import Client

from accounts.models import AuditEntry
from executions.webhooks.models import WebhookDelivery, WebhookEndpoint
from tests.accounts.people import person, signed_in
from tests.cast import Caller, Workbench
from tests.webhooks.receiver import Receiver, add_endpoint, deliver_due

pytestmark = pytest.mark.django_db


@pytest.fixture
def member(owner: Caller) -> Client:
    return signed_in(person("member@example.com", owner.account))


def make(member: Client, url: str, *events: str) -> str:
    page = member.post("/dashboard/webhooks/new", {"url": url, "events": events or ["execution.finished"]})
    assert page.status_code == 200, page.content.decode()
    found = re.search(r"whsec_[A-Za-z0-9+/=]+", page.content.decode())
    assert found
    return found[0]


def test_an_endpoint_is_made_its_secret_shown_once_and_its_deliveries_seen(
    member: Client, owner: Caller, workbench: Workbench, receiver: Receiver
) -> None:
    secret = make(member, receiver.url)
    assert secret not in member.get("/dashboard/webhooks").content.decode()
    assert secret not in str(list(AuditEntry.objects.values()))
    receiver.answers = [500]
    owner.submit()
    workbench.run_all()
    deliver_due()

    endpoint, delivery = WebhookEndpoint.objects.get(), WebhookDelivery.objects.get()
    assert "execution.finished" in member.get(f"/dashboard/webhooks/{endpoint.pk}").content.decode()
    page = member.get(f"/dashboard/webhooks/{endpoint.pk}/deliveries/{delivery.pk}").content.decode()
    assert "500" in page
    assert "&quot;type&quot;:&quot;execution.finished&quot;" in page

    member.post(f"/dashboard/webhooks/{endpoint.pk}/deliveries/{delivery.pk}/redeliver")
    deliver_due()
    assert [told["type"] for told in receiver.verified(secret)][-1] == "execution.finished"
    assert WebhookDelivery.objects.get().state == "DELIVERED"


def test_a_test_event_is_sent_a_secret_is_changed_and_an_endpoint_removed(
    member: Client, owner: Caller, receiver: Receiver
) -> None:
    first = make(member, receiver.url)
    endpoint = WebhookEndpoint.objects.get()
    member.post(f"/dashboard/webhooks/{endpoint.pk}/test")
    deliver_due()
    assert [told["type"] for told in receiver.verified(first)] == ["webhook.test"]
    page = member.post(f"/dashboard/webhooks/{endpoint.pk}/rotate").content.decode()
    assert "whsec_" in page
    assert first not in page
    member.post(f"/dashboard/webhooks/{endpoint.pk}/remove")
    assert "No endpoint yet" in member.get("/dashboard/webhooks").content.decode()


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"url": "https://127.0.0.1/"}, "public address"),
        ({"url": "http://example.com/"}, "https://"),
        ({"url": ""}, "url"),
        ({"url": "https://example.com/", "events": ["x"]}, "events"),
        ({"url": "https://127.0.0.1/", "description": "<b>mine"}, "&lt;b&gt;mine"),
    ],
)
def test_a_bad_address_is_refused_and_what_was_typed_stays(
    member: Client, fields: dict[str, object], complaint: str
) -> None:
    response = member.post("/dashboard/webhooks/new", {"events": ["batch.finished"], **fields})
    assert response.status_code == 400
    assert complaint in response.content.decode()
    assert not WebhookEndpoint.objects.exists()


def test_an_endpoint_of_another_account_is_not_there(member: Client, stranger: Caller, receiver: Receiver) -> None:
    made = add_endpoint(stranger, receiver.url)
    for path in ("test", "rotate", "remove"):
        assert member.post(f"/dashboard/webhooks/{made['endpointId']}/{path}").status_code == 404
    assert member.get(f"/dashboard/webhooks/{made['endpointId']}").status_code == 404
    assert WebhookEndpoint.objects.filter(removed_at=None).count() == 1
