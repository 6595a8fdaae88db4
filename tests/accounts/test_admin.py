import re

import pytest
from django.contrib.auth.models import Group
from django.core import mail
from django.test import Client

from accounts import beta, entitlements
from accounts.keys import find_key
from accounts.models import Account, ApiKey, AuditEntry, BetaRequest, Override, User
from executions.models import Execution
from sandbox.errors import SandboxLost
from sandbox.fake import FakeEvaluator, result
from sandbox.job import Job
from sandbox.result import Result
from tests.accounts import people
from tests.accounts.people import signed_in
from tests.cast import Caller, Workbench, read

pytestmark = pytest.mark.django_db(transaction=True)

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def staff() -> Client:
    user = User.objects.create_superuser("staff@example.com", "a long enough password")
    client = Client()
    client.force_login(user)
    return client


def test_a_key_is_made_and_shown_once(staff: Client) -> None:
    account = Account.objects.create(name="A")

    page = staff.post(
        "/admin/accounts/apikey/add/", {"account": account.pk, "name": "CI"}, follow=True
    ).content.decode()

    (secret,) = re.findall(r"cf_live_[0-9A-Za-z]{42}", page)
    found = find_key(secret)
    assert found is not None
    assert found.account == account
    assert ApiKey.objects.count() == 1
    again = staff.get("/admin/accounts/apikey/").content.decode()
    assert secret not in again
    assert secret[:16] in again


def test_keys_are_revoked_and_it_is_written_down(staff: Client, owner: Caller) -> None:
    key = ApiKey.objects.get()
    staff.post("/admin/accounts/apikey/", {"action": "revoke_keys", "_selected_action": [key.pk]})
    key.refresh_from_db()
    assert key.revoked_at is not None
    assert AuditEntry.objects.get().action == "key revoked"
    assert owner.get("/v1/usage").status_code == 401


@pytest.mark.parametrize(
    "path",
    [
        "",
        "accounts/account/",
        "accounts/user/",
        "accounts/apikey/",
        "accounts/usageperiod/",
        "executions/execution/",
        "executions/worker/",
        "executions/runtimeimage/",
        "executions/queuestate/",
        "accounts/betarequest/",
        "accounts/invitation/",
        "accounts/override/",
        "accounts/auditentry/",
        "accounts/user/add/",
    ],
)
def test_every_page_opens_for_staff_and_for_no_one_else(staff: Client, owner: Caller, path: str) -> None:
    owner.submit()
    assert staff.get(f"/admin/{path}").status_code == 200
    assert Client().get(f"/admin/{path}").status_code == 302
    member = Client()
    member.force_login(User.objects.create_user("member@example.com", "a long enough password"))
    assert member.get(f"/admin/{path}").status_code == 302


def test_program_text_and_output_are_shown_as_text(staff: Client, owner: Caller) -> None:
    shown = owner.submit(source=HOSTILE, stdin=HOSTILE, metadata={HOSTILE: HOSTILE}, args=[HOSTILE])
    Workbench(lambda fake, job: result(job, stdout=HOSTILE.encode() + b"\xff\0")).run_all()

    response = staff.get(f"/admin/executions/execution/{shown['executionId']}/change/")
    page = response.content.decode()

    assert response.status_code == 200
    assert HOSTILE not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 4
    assert "script-src 'self'" in response.headers["Content-Security-Policy"]


def test_executions_cannot_be_changed(staff: Client, owner: Caller) -> None:
    pk = owner.submit()["executionId"]
    assert staff.post(f"/admin/executions/execution/{pk}/change/", {"status": "SUCCEEDED"}).status_code == 403
    assert staff.post(f"/admin/executions/execution/{pk}/delete/", {"post": "yes"}).status_code == 403
    assert staff.get("/admin/executions/execution/add/").status_code == 403
    assert Execution.objects.get().status == "QUEUED"


@pytest.mark.parametrize("search", ["x", "'", "00000000-0000-0000-0000-000000000000", "\0", "%"])
def test_searching_for_anything_is_answered(staff: Client, owner: Caller, search: str) -> None:
    owner.submit()
    for path in ("executions/execution", "accounts/apikey", "accounts/account", "accounts/user"):
        assert staff.get(f"/admin/{path}/", {"q": search}).status_code == 200


# --- What staff do ---------------------------------------------------------------------------------------------------


@pytest.fixture
def support() -> Client:
    return signed_in(people.staff("support"))


@pytest.fixture
def operations() -> Client:
    return signed_in(people.staff("operations"))


def act(client: Client, account: Account, action: str, **fields: object) -> int:
    return client.post(f"/admin/accounts/account/{account.pk}/act/{action}/", fields).status_code


def ask_for_access(*emails: str) -> list[int]:
    for email in emails:
        beta.ask(name="Ada", email=email, organisation="", purpose="x")
    return list(BetaRequest.objects.order_by("pk").values_list("pk", flat=True))


def test_support_approves_many_requests_at_once_with_a_note(support: Client) -> None:
    chosen = ask_for_access("a@example.com", "b@example.com", "c@example.com")
    fields = {"action": "approve", "note": "From the conference.", "_selected_action": chosen}
    page = support.post("/admin/accounts/betarequest/", fields, follow=True).content.decode()
    assert "3 approved." in page
    assert Account.objects.count() == len(mail.outbox) == 3
    assert set(BetaRequest.objects.values_list("note", "decided_by__email")) == {
        ("From the conference.", "support@codeforge.example")
    }
    again = support.post("/admin/accounts/betarequest/", fields, follow=True).content.decode()
    assert "0 approved. 3 had been decided already." in again
    assert Account.objects.count() == len(mail.outbox) == 3


def test_support_declines(support: Client) -> None:
    chosen = ask_for_access("a@example.com")
    support.post("/admin/accounts/betarequest/", {"action": "decline", "note": "", "_selected_action": chosen})
    assert BetaRequest.objects.get().state == "declined"


def test_support_changes_no_account(support: Client, owner: Caller) -> None:
    for action in ("plan", "override", "suspend", "restore", "invite"):
        assert act(support, owner.account, action, plan="pro", reason="x") == 403
    assert not AuditEntry.objects.exists()


def test_operations_move_an_account_to_a_plan_with_a_reason(operations: Client, owner: Caller) -> None:
    assert act(operations, owner.account, "plan", plan="pro", reason="") == 400
    assert act(operations, owner.account, "plan", plan="gold", reason="x") == 400
    assert act(operations, owner.account, "plan", plan="pro", reason="They pay.") == 302
    assert read(owner.get("/v1/usage"))["plan"] == "pro"
    assert AuditEntry.objects.get().reason == "They pay."


def test_operations_change_one_number_and_give_it_back(operations: Client, owner: Caller) -> None:
    fields = {"name": "monthly_runs", "value": "7", "expires_at": "", "reason": "x"}
    assert act(operations, owner.account, "override", **fields) == 302
    assert read(owner.get("/v1/usage"))["runs"]["limit"] == 7
    assert act(operations, owner.account, "override", **{**fields, "value": ""}) == 302
    assert read(owner.get("/v1/usage"))["runs"]["limit"] is None
    assert act(operations, owner.account, "override", **{**fields, "value": "-1"}) == 400
    assert (
        act(operations, owner.account, "override", **{**fields, "name": "limits.memory_mb.ceiling", "value": ""}) == 400
    )
    assert act(operations, owner.account, "override", **{**fields, "expires_at": "soon"}) == 400

    override = Override.objects.get()
    operations.post(f"/admin/accounts/override/{override.pk}/delete/", {"post": "yes"})
    assert read(owner.get("/v1/usage"))["runs"]["limit"] == 500
    assert list(AuditEntry.objects.order_by("pk").values_list("action", flat=True)) == [
        "override",
        "override",
        "override ended",
    ]


def test_operations_suspend_and_restore(operations: Client, owner: Caller) -> None:
    assert act(operations, owner.account, "suspend", reason="Abuse.") == 302
    assert owner.get("/v1/usage").status_code == 403
    assert act(operations, owner.account, "restore", reason="Cleared.") == 302
    assert owner.get("/v1/usage").status_code == 200
    assert list(AuditEntry.objects.order_by("pk").values_list("action", "reason")) == [
        ("suspend", "Abuse."),
        ("restore", "Cleared."),
    ]


def test_operations_invite_somebody_to_an_account(operations: Client, owner: Caller) -> None:
    assert act(operations, owner.account, "invite", email="new@example.com", role="owner") == 302
    assert mail.outbox[0].to == ["new@example.com"]
    invitation = owner.account.invitations.get()
    fields = {"action": "send_again", "_selected_action": [invitation.pk]}
    assert operations.post("/admin/accounts/invitation/", fields).status_code == 302
    assert len(mail.outbox) == 2


def test_an_action_that_does_not_exist_is_not_found(operations: Client, owner: Caller) -> None:
    assert act(operations, owner.account, "explode") == 404
    assert operations.get("/admin/accounts/account/999999/act/plan/").status_code == 404


def test_whatever_a_form_changes_is_written_down_with_what_was_before(staff: Client, owner: Caller) -> None:
    inlines = {f"{name}-{part}_FORMS": 0 for name in ("overrides", "memberships") for part in ("TOTAL", "INITIAL")}
    response = staff.post(f"/admin/accounts/account/{owner.account.pk}/change/", {"name": "New name", **inlines})
    assert response.status_code == 302, response.content.decode()
    entry = AuditEntry.objects.get()
    assert (entry.actor_email, entry.before, entry.after) == (
        "staff@example.com",
        {"name": "Owner"},
        {"name": "New name"},
    )


def test_making_somebody_staff_is_written_down_and_no_hash_of_a_password_is(staff: Client) -> None:
    user = User.objects.create_user("new@example.com", "a long enough password")
    groups = list(Group.objects.filter(name="support").values_list("pk", flat=True))
    fields = {"email": user.email, "name": "New", "is_active": "on", "is_staff": "on", "groups": groups}
    assert staff.post(f"/admin/accounts/user/{user.pk}/change/", fields).status_code == 302
    entry = AuditEntry.objects.get()
    assert entry.after == {"name": "New", "is_staff": True, "groups": ["support"]}
    passwords = {"password1": "yet another password", "password2": "yet another password", "usable_password": "true"}
    assert staff.post(f"/admin/accounts/user/{user.pk}/password/", passwords).status_code == 302
    assert AuditEntry.objects.filter(action="password").count() == 1
    user.refresh_from_db()
    assert user.password not in str(list(AuditEntry.objects.values()))


def test_the_first_page_says_what_goes_on(staff: Client, owner: Caller) -> None:
    def lose(fake: FakeEvaluator, job: Job) -> Result:
        raise SandboxLost("gone")

    ask_for_access("a@example.com", "b@example.com")
    failed = owner.submit()["executionId"]
    Workbench(lose).run_all()
    owner.submit()
    Workbench().run_all()
    owner.submit()

    page = staff.get("/admin/").content.decode()

    assert '<td id="beta-waiting">2</td>' in page
    assert f"/admin/executions/execution/{failed}/change/" in page
    assert "SUCCEEDED" in page
    assert "sandbox_lost" in page
    assert "None. Nothing runs until one is started." not in page
    assert "style=" not in page


def test_hostile_names_are_text_everywhere(staff: Client, owner: Caller) -> None:
    Account.objects.update(name=HOSTILE)
    beta.ask(name=HOSTILE, email="a@example.com", organisation=HOSTILE, purpose=HOSTILE)
    owner.submit()
    entitlements.override(owner.account, "monthly_runs", 5, by=None, reason=HOSTILE)
    for path in (
        "accounts/account",
        "accounts/betarequest",
        "accounts/auditentry",
        "accounts/override",
        "executions/execution",
    ):
        page = staff.get(f"/admin/{path}/").content.decode()
        assert HOSTILE not in page
        assert "&lt;script&gt;" in page, path
    for action in ("plan", "override"):
        assert HOSTILE not in staff.get(f"/admin/accounts/account/{owner.account.pk}/act/{action}/").content.decode()


@pytest.mark.parametrize("by", ["id", "account", "status"])
def test_executions_are_found(staff: Client, owner: Caller, stranger: Caller, by: str) -> None:
    wanted, other = owner.submit(), stranger.submit(language="cpp")
    query = {"id": f"q={wanted['executionId']}", "account": "q=owne", "status": "status__exact=QUEUED&language=python"}[
        by
    ]
    page = staff.get(f"/admin/executions/execution/?{query}&created=day").content.decode()
    assert wanted["executionId"] in page
    assert other["executionId"] not in page
