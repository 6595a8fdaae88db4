"""From the first visit to the first run: every step as a person takes it, none of them faked."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from django.core import mail
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from accounts.models import Account
from tests.accounts import people
from tests.accounts.people import PASSWORD
from tests.worker_process import Process

pytestmark = [pytest.mark.real, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Process]:
    """With the real sandbox."""
    process = Process(tmp_path / "worker.log", concurrency=1, app="codeforge")
    yield process
    process.process.terminate()
    process.process.wait(timeout=60)


def sign_in(page: Page, email: str) -> None:
    page.goto("/sign-in")
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def request_access(page: Page) -> None:
    page.goto("/")
    page.get_by_role("link", name="Request access").click()
    page.get_by_label("Name").press_sequentially("Ada Lovelace", delay=40)
    page.get_by_label("E-mail").press_sequentially("ada@example.com", delay=40)
    page.get_by_label("Organisation").fill("Analytical Engines")
    page.get_by_label("What do you want to evaluate?").fill("Programs that models write.")
    page.get_by_role("button", name="Request access").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()


def approve(page: Page) -> None:
    sign_in(page, people.staff("support").email)
    page.goto("/admin/")
    page.get_by_role("link", name="Beta requests waiting").click()
    page.get_by_role("checkbox", name=re.compile("Select this object")).check()
    page.locator("select[name=action]").select_option("approve")
    page.get_by_label("Note").fill("Welcome.")
    page.get_by_role("button", name="Go").click()
    expect(page.get_by_text("1 approved.")).to_be_visible()
    page.goto("/")
    page.get_by_role("button", name="Sign out").click()


def come_in(page: Page) -> None:
    (letter,) = mail.outbox
    assert letter.to == ["ada@example.com"]
    link = re.search(r"http://\S+/invitations/\S+", str(letter.body))
    assert link
    page.goto(link[0])
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Set the password and come in").click()
    expect(page.get_by_role("heading", name="Welcome to CodeForge")).to_be_visible()


def make_key(page: Page) -> str:
    page.get_by_role("link", name="Make an API key.").click()
    page.get_by_label("Name").fill("First key")
    page.get_by_role("button", name="Make the key").click()
    secret = page.locator("#secret").inner_text()
    assert re.fullmatch(r"cf_live_\w{42}", secret)
    return secret


def run_first_program(url: str, key: str) -> dict[str, Any]:
    answer = requests.post(
        f"{url}/v1/executions?wait=60",
        headers={"Authorization": f"Bearer {key}"},
        json={"language": "python", "source": "print(6 * 7)"},
        timeout=90,
    )
    assert answer.status_code == 202, answer.text
    made: dict[str, Any] = answer.json()
    return made


def test_from_the_request_for_access_to_the_first_run(page: Page, live_server: LiveServer, worker: Process) -> None:
    request_access(page)
    approve(page)
    come_in(page)
    key = make_key(page)
    run = run_first_program(live_server.url, key)
    assert (run["status"], run["stdout"]) == ("SUCCEEDED", "42\n"), worker.said()

    page.get_by_role("link", name="Runs", exact=True).click()
    page.get_by_role("link", name=run["executionId"]).click()
    expect(page.locator(".pill.SUCCEEDED")).to_be_visible()
    expect(page.locator("pre.output").filter(has_text="print(6 * 7)").first).to_be_visible()
    page.get_by_role("link", name="Usage", exact=True).click()
    expect(page.get_by_text("1 runs counted of 500")).to_be_visible()
    assert Account.objects.get().name == "Analytical Engines"

    # The key is revoked in the page, and the API refuses it at once.
    page.get_by_role("link", name="Keys", exact=True).click()
    page.get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("It is refused from now on")).to_be_visible()
    refused = requests.get(f"{live_server.url}/v1/usage", headers={"Authorization": f"Bearer {key}"}, timeout=30)
    assert refused.status_code == 401
