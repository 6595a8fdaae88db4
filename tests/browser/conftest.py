"""A real browser on a real server. A test fails when a page has complained, or has asked another host for anything."""

import os
import shutil
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from pytest_django.live_server_helper import LiveServer


# Not for the whole session: its loop runs in this thread for as long, and tests with loops of their own come later.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    assert chromium, "These tests need Chromium: `make test` installs it, or `apt-get install chromium`."
    # Playwright's loop runs in this thread, and Django takes that for asynchronous code that must not touch a database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        # As root, Chromium's own sandbox does not start.
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def page(browser: Browser, live_server: LiveServer, settings: object) -> Iterator[Page]:
    """A browser of its own for each test, at ``live_server``. Addresses are relative to it."""
    settings.CODEFORGE_BASE_URL = live_server.url  # type: ignore[attr-defined]
    settings.CSRF_TRUSTED_ORIGINS = [live_server.url]  # type: ignore[attr-defined]
    context = browser.new_context(base_url=live_server.url, locale="en-GB", timezone_id="UTC")
    context.set_default_timeout(60_000)
    opened = context.new_page()
    complaints: list[str] = []
    here = urlsplit(live_server.url).netloc
    # Violations of the content security policy are errors of the console.
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on(
        "request",
        lambda request: complaints.append(request.url) if urlsplit(request.url).netloc not in {here, ""} else None,
    )
    yield opened
    context.close()
    assert complaints == []
