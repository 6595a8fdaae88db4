"""Pages that fill in by themselves, and stop asking when there is nothing more to come."""

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.accounts.people import PASSWORD, person
from tests.cast import Caller, Workbench, read

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def sign_in(page: Page, owner: Caller) -> None:
    person("member@example.com", owner.account)
    page.goto("/sign-in")
    page.get_by_label("Email").fill("member@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def asked(page: Page) -> list[str]:
    """The addresses that scripts of the page have asked for, from now on."""
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url) if request.resource_type == "xhr" else None)
    return addresses


def test_a_runs_page_shows_its_end_without_being_loaded_again(
    page: Page, live_server: LiveServer, owner: Caller, workbench: Workbench
) -> None:
    sign_in(page, owner)
    pk = owner.submit()["executionId"]
    addresses = asked(page)
    page.goto(f"/dashboard/runs/{pk}")
    expect(page.get_by_text("It has not ended yet")).to_be_visible()
    with page.expect_request(lambda request: request.resource_type == "xhr"):
        pass
    page.evaluate("window.stillTheSame = true")

    workbench.run_all()

    expect(page.locator(".pill.SUCCEEDED").first).to_be_visible()
    assert page.evaluate("window.stillTheSame")
    known = len(addresses)
    # Twice as long as it would ask again; there is no event for what does not happen.
    page.wait_for_timeout(1_100)
    assert len(addresses) == known


def test_an_evaluation_fills_in_by_itself(page: Page, live_server: LiveServer, owner: Caller) -> None:
    sign_in(page, owner)
    body = {
        "language": "python",
        "problems": [{"id": "p", "tests": [{"stdin": "4", "expectedStdout": "4"}]}],
        "candidates": [{"problemId": "p", "source": "a"}, {"problemId": "p", "source": "b"}],
    }
    pk = read(owner.post("/v1/evaluations", body))["evaluationId"]
    page.goto(f"/dashboard/evaluations/{pk}")
    expect(page.get_by_text("0 of 2 scored")).to_be_visible()

    Workbench().run_all()

    expect(page.get_by_text("2 of 2 scored")).to_be_visible()
    expect(page.get_by_text("1.0000", exact=True)).to_be_visible()
