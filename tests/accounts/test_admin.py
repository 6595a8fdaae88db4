import re

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from accounts.keys import find_key
from accounts.models import Account, ApiKey, User
from executions.models import Execution
from sandbox.fake import result
from tests.cast import Caller, Workbench

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
    assert LogEntry.objects.count() == 1
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
        "accounts/account/add/",
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
