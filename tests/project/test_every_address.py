"""Every address of the site, asked by everybody: only what is meant answers.

A new address without a row in the table fails here. Say in it what each of them gets: a stranger without a key or a
session, a member of another account, staff of the groups support and operations. 200 it opens, 302 to sign in, 403 no,
404 there is nothing for them, 400 it would take a form. The API is asked with a key of another account.
"""

import re
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal import auth as totp
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import get_resolver
from django.urls.resolvers import URLPattern, URLResolver
from django.utils import timezone

from accounts import beta, entitlements, invitations
from accounts.models import Account, ApiKey, AuditEntry, BetaRequest, Invitation, Override, UsagePeriod, User
from executions.models import Execution, QueueState, RuntimeImage, Worker
from executions.webhooks import outbox, secrets
from executions.webhooks.events import TEST
from executions.webhooks.models import WebhookDelivery, WebhookEndpoint
from tests.accounts import people
from tests.accounts.people import person, signed_in
from tests.cast import PROGRAM, Caller, Workbench

pytestmark = pytest.mark.django_db(transaction=True)

# What it answers to: stranger, member of another account, support, operations.
Answers = tuple[int, int, int, int]
PUBLIC: Answers = (200, 200, 200, 200)
# Staff of these tests belong to no account, as most staff do.
OWN: Answers = (302, 200, 403, 403)
OWN_FORM: Answers = (405, 405, 405, 405)
NOT_THEIRS: Answers = (302, 404, 403, 403)
STAFF: Answers = (302, 302, 200, 200)
NEVER: Answers = (302, 302, 403, 403)
MISSING: Answers = (302, 302, 404, 404)

# By the pattern of the address. Read with GET; what only takes POST has a row in CHANGES, too.
TABLE: dict[str, Answers] = {
    "": PUBLIC,
    "favicon.ico": (302, 302, 302, 302),
    "healthz": PUBLIC,
    "metrics": (404, 404, 404, 404),
    "docs": PUBLIC,
    "docs/guides/<slug:slug>": PUBLIC,
    "pricing": PUBLIC,
    "status": PUBLIC,
    "docs/api": PUBLIC,
    "docs/errors": PUBLIC,
    "docs/errors/<slug:code>": PUBLIC,
    "v1/openapi.json": PUBLIC,
    "v1/runtimes": PUBLIC,
    # The API: staff and members have no key, so a session is worth nothing here.
    "v1/executions": (401, 401, 401, 401),
    "v1/executions/<uuid:execution_id>": (401, 401, 401, 401),
    "v1/executions/<uuid:execution_id>/source": (401, 401, 401, 401),
    "v1/executions/<uuid:execution_id>/cancel": (401, 401, 401, 401),
    "v1/batches": (401, 401, 401, 401),
    "v1/batches/<uuid:batch_id>": (401, 401, 401, 401),
    "v1/batches/<uuid:batch_id>/executions": (401, 401, 401, 401),
    "v1/batches/<uuid:batch_id>/results": (401, 401, 401, 401),
    "v1/batches/<uuid:batch_id>/cancel": (401, 401, 401, 401),
    "v1/evaluations": (401, 401, 401, 401),
    "v1/evaluations/<uuid:evaluation_id>": (401, 401, 401, 401),
    "v1/evaluations/<uuid:evaluation_id>/results": (401, 401, 401, 401),
    "v1/evaluations/<uuid:evaluation_id>/manifest": (401, 401, 401, 401),
    "v1/evaluations/<uuid:evaluation_id>/cancel": (401, 401, 401, 401),
    "v1/evaluations/<uuid:evaluation_id>/retry": (401, 401, 401, 401),
    "v1/usage": (401, 401, 401, 401),
    "v1/webhook-endpoints": (401, 401, 401, 401),
    "v1/webhook-endpoints/<uuid:endpoint_id>": (401, 401, 401, 401),
    "v1/webhook-endpoints/<uuid:endpoint_id>/rotate": (401, 401, 401, 401),
    "v1/webhook-endpoints/<uuid:endpoint_id>/test": (401, 401, 401, 401),
    "v1/webhook-endpoints/<uuid:endpoint_id>/deliveries": (401, 401, 401, 401),
    "v1/webhook-endpoints/<uuid:endpoint_id>/deliveries/<uuid:delivery_id>/redeliver": (401, 401, 401, 401),
    "beta": PUBLIC,
    "beta/received": PUBLIC,
    "invitations/<str:token>": PUBLIC,  # whoever has the link has read the mail
    "sign-in": (200, 302, 302, 302),
    "sign-in/second-factor": (302, 302, 302, 302),
    "sign-in/again": (302, 200, 200, 200),
    "sign-in/again/second-factor": (302, 302, 302, 302),
    "sign-in/inactive": PUBLIC,
    "sign-out": (302, 200, 200, 200),
    "sign-up": (302, 302, 302, 302),
    "e-mail": PUBLIC,
    "e-mail/<str:key>": PUBLIC,
    "password": PUBLIC,
    "password/sent": PUBLIC,
    "password/set/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>[-\\w]+)": PUBLIC,
    "password/done": PUBLIC,
    "password/change": (302, 200, 200, 200),
    "password/first": (302, 302, 302, 302),
    "second-factor": (302, 200, 200, 200),
    "second-factor/on": (302, 302, 302, 302),
    "second-factor/off": (302, 404, 404, 404),
    "second-factor/codes": (302, 404, 404, 404),
    "second-factor/codes/new": (302, 302, 302, 302),
    "second-factor/codes/file": (302, 404, 404, 404),
    "dashboard": OWN,
    "dashboard/runs": OWN,
    "dashboard/runs/<uuid:execution_id>": NOT_THEIRS,
    "dashboard/runs/<uuid:execution_id>/again": OWN_FORM,
    "dashboard/runs/export/<slug:kind>": OWN,
    "dashboard/runs/<uuid:execution_id>/download/<slug:what>": NOT_THEIRS,
    "dashboard/playground": OWN,
    "dashboard/playground/run": OWN_FORM,
    "dashboard/batches": OWN,
    "dashboard/batches/<uuid:batch_id>": NOT_THEIRS,
    "dashboard/evaluations": OWN,
    "dashboard/evaluations/<uuid:evaluation_id>": NOT_THEIRS,
    "dashboard/evaluations/<uuid:evaluation_id>/compare": NOT_THEIRS,
    "dashboard/evaluations/<uuid:evaluation_id>/problems/<int:number>": NOT_THEIRS,
    "dashboard/webhooks": OWN,
    "dashboard/webhooks/<uuid:endpoint_id>": NOT_THEIRS,
    "dashboard/webhooks/<uuid:endpoint_id>/deliveries/<uuid:delivery_id>": NOT_THEIRS,
    "dashboard/webhooks/new": OWN_FORM,
    "dashboard/webhooks/<uuid:endpoint_id>/test": OWN_FORM,
    "dashboard/webhooks/<uuid:endpoint_id>/rotate": OWN_FORM,
    "dashboard/webhooks/<uuid:endpoint_id>/remove": OWN_FORM,
    "dashboard/webhooks/<uuid:endpoint_id>/deliveries/<uuid:delivery_id>/redeliver": OWN_FORM,
    "dashboard/usage": OWN,
    "dashboard/welcome": OWN,
    "dashboard/account": OWN,
    "dashboard/keys": OWN,
    "dashboard/members": OWN,
    "dashboard/account/name": OWN_FORM,
    "dashboard/account/choose": OWN_FORM,
    "dashboard/keys/new": OWN_FORM,
    "dashboard/keys/<int:key_id>/rotate": OWN_FORM,
    "dashboard/keys/<int:key_id>/revoke": OWN_FORM,
    "dashboard/members/invite": OWN_FORM,
    "dashboard/members/<int:user_id>/role": OWN_FORM,
    "dashboard/members/<int:user_id>/remove": OWN_FORM,
    "dashboard/invitations/<int:invitation_id>/withdraw": OWN_FORM,
    "admin": (302, 302, 302, 302),
    "admin/": STAFF,
    "admin/login/": (302, 403, 302, 302),
    "admin/logout/": (302, 302, 405, 405),
    "admin/password_change/": (302, 302, 200, 200),
    "admin/password_change/done/": (302, 302, 200, 200),
    "admin/autocomplete/": NEVER,
    "admin/jsi18n/": STAFF,
    "admin/r/<path:content_type_id>/<path:object_id>/": MISSING,
    "admin/(?P<url>.*)": MISSING,
    "admin/<app_label>/": STAFF,
    "admin/accounts/user/<id>/password/": NEVER,
    "admin/accounts/account/<int:account_id>/act/<slug:action>/": (302, 302, 403, 200),
}
# What POST without a form answers, where GET is not taken. Another account's things are not there.
CHANGES: dict[str, Answers] = {
    "v1/executions/<uuid:execution_id>/cancel": (401, 401, 401, 401),
    "v1/batches/<uuid:batch_id>/cancel": (401, 401, 401, 401),
    "v1/evaluations/<uuid:evaluation_id>/cancel": (401, 401, 401, 401),
    "v1/evaluations/<uuid:evaluation_id>/retry": (401, 401, 401, 401),
    "v1/webhook-endpoints/<uuid:endpoint_id>/rotate": (401, 401, 401, 401),
    "v1/webhook-endpoints/<uuid:endpoint_id>/test": (401, 401, 401, 401),
    "v1/webhook-endpoints/<uuid:endpoint_id>/deliveries/<uuid:delivery_id>/redeliver": (401, 401, 401, 401),
    "dashboard/runs/<uuid:execution_id>/again": (302, 404, 403, 403),
    "dashboard/playground/run": (302, 400, 403, 403),
    "dashboard/webhooks/new": (302, 400, 403, 403),
    "dashboard/webhooks/<uuid:endpoint_id>/test": (302, 404, 403, 403),
    "dashboard/webhooks/<uuid:endpoint_id>/rotate": (302, 404, 403, 403),
    "dashboard/webhooks/<uuid:endpoint_id>/remove": (302, 404, 403, 403),
    "dashboard/webhooks/<uuid:endpoint_id>/deliveries/<uuid:delivery_id>/redeliver": (302, 404, 403, 403),
    "dashboard/account/name": (302, 400, 403, 403),
    "dashboard/account/choose": (302, 404, 403, 403),
    "dashboard/keys/new": (302, 400, 403, 403),
    "dashboard/keys/<int:key_id>/rotate": (302, 404, 403, 403),
    "dashboard/keys/<int:key_id>/revoke": (302, 404, 403, 403),
    "dashboard/members/invite": (302, 400, 403, 403),
    "dashboard/members/<int:user_id>/role": (302, 404, 403, 403),
    "dashboard/members/<int:user_id>/remove": (302, 404, 403, 403),
    "dashboard/invitations/<int:invitation_id>/withdraw": (302, 404, 403, 403),
}
# The admin's pages of a model: list, add, change, delete, history; for support and for operations.
LISTED = {
    "accounts/account",
    "accounts/override",
    "accounts/user",
    "accounts/invitation",
    "accounts/betarequest",
    "accounts/apikey",
    "accounts/usageperiod",
    "accounts/auditentry",
    "executions/execution",
    "executions/queuestate",
    "executions/worker",
    "executions/runtimeimage",
    "executions/batch",
    "executions/evaluation",
    "executions/webhookendpoint",
    "executions/webhookdelivery",
}
# Django's and allauth's own models are for those who have every permission.
UNLISTED = {"auth/group", "account/emailaddress", "mfa/authenticator"}
DELETABLE_BY_OPERATIONS = {"accounts/override"}


def addresses(patterns: list[Any] | None = None, prefix: str = "") -> Iterator[str]:
    for pattern in patterns or get_resolver().url_patterns:
        path = prefix + str(pattern.pattern).removeprefix("^").removesuffix("$")
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern.url_patterns, path)
        elif isinstance(pattern, URLPattern):
            # Which names stand here, and in which order, is for the admin to know.
            yield re.sub(r"\(\?P<app_label>[^)]*\)", "<app_label>", path)


def expected(address: str) -> Answers | None:
    """Of an address in the table, or of one of the admin's pages of a model."""
    if address in TABLE:
        return TABLE[address]
    model = re.fullmatch(r"admin/(\w+/\w+)/(<path:object_id>/)?(\w+/)?", address)
    if model is None:
        return None
    name, has_object, page = model.groups()
    if name in UNLISTED:
        return (302, 302, 302, 302) if has_object and page is None else NEVER
    if name not in LISTED:
        return None
    if not has_object:
        return NEVER if page else STAFF
    match page:
        case None:
            return (302, 302, 302, 302)  # to the change page
        case "delete/" if name in DELETABLE_BY_OPERATIONS:
            return (302, 302, 403, 200)
        case "delete/":
            return NEVER
        case _:
            return STAFF


@pytest.fixture
def things(owner: Caller) -> dict[str, str]:
    """Something of the owner's for every address that takes an id."""
    execution = owner.submit()["executionId"]
    Workbench().run_all()
    batch = owner.post("/v1/batches", {"executions": [PROGRAM]}).json()["batchId"]  # type: ignore[attr-defined]
    scored = {
        "language": "python",
        "problems": [{"id": "a", "tests": [{}]}],
        "candidates": [{"problemId": "a", "source": "x"}],
    }
    evaluation = owner.post("/v1/evaluations", scored).json()["evaluationId"]  # type: ignore[attr-defined]
    endpoint = WebhookEndpoint.objects.create(
        account=owner.account,
        url="https://example.com/hook",
        events=["execution.finished"],
        secret=secrets.lock(secrets.make_secret()),
        created_at=timezone.now(),
    )
    delivery = outbox.enqueue_for(endpoint, event=TEST)
    user = person("owner@example.com", owner.account)
    letter = invitations.write(owner.account, "new@example.com", role="member", by=user)
    beta.ask(name="Ada", email="ada@example.com", organisation="", purpose="x")
    entitlements.override(owner.account, "monthly_runs", 100, by=user, reason="x")
    objects: dict[str, Any] = {
        "accounts/account": owner.account.pk,
        "accounts/override": Override.objects.get().pk,
        "accounts/user": user.pk,
        "accounts/invitation": letter.invitation.pk,
        "accounts/betarequest": BetaRequest.objects.get().pk,
        "accounts/apikey": ApiKey.objects.get().pk,
        "accounts/usageperiod": UsagePeriod.objects.get().pk,
        "accounts/auditentry": AuditEntry.objects.latest("pk").pk,
        "auth/group": Group.objects.latest("pk").pk,
        "account/emailaddress": EmailAddress.objects.latest("pk").pk,
        "mfa/authenticator": totp.TOTP.activate(user, totp.generate_totp_secret()).instance.pk,
        "executions/execution": execution,
        "executions/queuestate": QueueState.objects.get().pk,
        "executions/worker": Worker.objects.latest("pk").pk,
        "executions/runtimeimage": RuntimeImage.objects.latest("pk").pk,
        "executions/batch": batch,
        "executions/evaluation": evaluation,
        "executions/webhookendpoint": endpoint.pk,
        "executions/webhookdelivery": delivery.pk,
    }
    return {
        "<uuid:execution_id>": execution,
        "<uuid:batch_id>": batch,
        "<uuid:evaluation_id>": evaluation,
        "<uuid:endpoint_id>": str(endpoint.pk),
        "<uuid:delivery_id>": str(delivery.pk),
        "<str:token>": letter.token,
        "<slug:code>": "queue_full",
        "<slug:slug>": "quickstart",
        "<slug:kind>": "csv",
        "<slug:what>": "stdout",
        "<str:key>": "nonsense",
        "<int:number>": "0",
        "<int:key_id>": str(ApiKey.objects.get().pk),
        "<int:user_id>": str(user.pk),
        "<int:invitation_id>": str(letter.invitation.pk),
        "<int:account_id>": str(owner.account.pk),
        "<slug:action>": "plan",
        "<path:content_type_id>": "999",
        "(?P<url>.*)": "nothing",
        **{f"object of {name}": str(pk) for name, pk in objects.items()},
    }


def concrete(address: str, things: dict[str, str]) -> str:
    model = re.match(r"admin/(\w+/\w+)/", address)
    path = address
    for pattern, value in things.items():
        path = path.replace(pattern, value)
    path = path.replace("<path:object_id>", things.get(f"object of {model[1]}", "1") if model else "1")
    path = path.replace("<app_label>", "accounts").replace("<id>", things["<int:user_id>"])
    path = path.replace("(?P<uidb36>[0-9A-Za-z]+)-(?P<key>[-\\w]+)", "1-nonsense")
    assert not re.search(r"[<(]", path), f"Say in `things` what stands for the parameters of {address}."
    return "/" + path


def everybody() -> list[Client]:
    other = person("other@example.com", Account.objects.create(name="Other"))
    return [Client(), signed_in(other), signed_in(people.staff("support")), signed_in(people.staff("operations"))]


def test_every_address_has_a_row_and_every_row_an_address() -> None:
    found = set(addresses())
    assert [address for address in sorted(found) if expected(address) is None] == []
    assert sorted(set(TABLE) - found) == []
    assert [address for address, answers in TABLE.items() if answers == OWN_FORM and address not in CHANGES] == []


def test_everybody_gets_what_is_meant_for_them_and_nothing_else(things: dict[str, str]) -> None:
    asking = everybody()
    wrong = {}
    for address in sorted(set(addresses())):
        path, row = concrete(address, things), expected(address)
        answers = tuple(client.get(path).status_code for client in asking)
        if answers != row:
            wrong[path] = (answers, row)
    for address, row in CHANGES.items():
        path = concrete(address, things)
        answers = tuple(client.post(path).status_code for client in asking)
        if answers != row:
            wrong[f"POST {path}"] = (answers, row)
    assert wrong == {}, "answered, expected"


def test_asking_has_changed_nothing(things: dict[str, str]) -> None:
    before = everything()
    for client in everybody():
        for address in sorted(set(addresses())):
            path = concrete(address, things)
            # Signing out is for everybody, and the beta for all.
            if address not in {"sign-out", "admin/logout/"}:
                client.post(path)
    after = everything()
    assert after == before


def everything() -> dict[str, Any]:
    return {
        "keys": list(ApiKey.objects.filter(account__name="Owner").values("pk", "revoked_at", "expires_at")),
        "members": list(User.objects.filter(memberships__account__name="Owner").values_list("pk", "memberships__role")),
        "account": list(Account.objects.filter(name="Owner").values("plan", "suspended_at")),
        "executions": list(Execution.objects.values("pk", "status", "erased_at")),
        "invitations": list(Invitation.objects.values("pk", "withdrawn_at", "accepted_at")),
        "requests": list(BetaRequest.objects.values("pk", "state")),
        "overrides": list(Override.objects.values("pk", "value")),
    }


def test_with_a_key_of_another_account_there_is_nothing(things: dict[str, str], stranger: Caller) -> None:
    for address in sorted(set(addresses())):
        if "<uuid:" in address and address.startswith("v1/"):
            path = concrete(address, things)
            nowhere = re.sub(r"[0-9a-f-]{36}", str(uuid.uuid4()), path)
            for method in ("GET", "POST", "DELETE"):
                assert stranger.request(method, path).status_code == stranger.request(method, nowhere).status_code
    assert owner_still_has(things)


def owner_still_has(things: dict[str, str]) -> bool:
    return (
        not Execution.objects.filter(status="CANCELLED").exists()
        and WebhookEndpoint.objects.filter(removed_at=None).exists()
        and WebhookDelivery.objects.filter(state="PENDING").count() == 1
    )
