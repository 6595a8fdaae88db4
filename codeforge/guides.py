"""Pages that teach: the quickstart and the guides. Their samples are run by the tests as they stand there."""

from collections.abc import Mapping

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.plans import PLANS
from executions import versions
from executions.serializers import LIMIT_NAMES
from sandbox.catalogue import catalogue

GUIDES: Mapping[str, str] = {
    "quickstart": "Quickstart",
    "verdicts": "Reading verdicts",
    "limits": "Choosing limits",
    "long-jobs": "Long jobs that resume",
    "pass-at-k": "pass@k on the server",
    "client": "The Python client and the command",
    "webhooks": "Webhooks",
    "security": "What is promised, and what is not",
}


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    return render(request, "guides/index.html", {"guides": GUIDES.items()})


@require_safe
def guide(request: HttpRequest, slug: str) -> HttpResponse:
    if slug not in GUIDES:
        raise Http404
    context = {
        "title": GUIDES[slug],
        "guides": GUIDES.items(),
        "slug": slug,
        "base_url": settings.CODEFORGE_BASE_URL,
        "limits": [(shown, PLANS["beta"].limits[name]) for shown, name in LIMIT_NAMES.items()],
    }
    return render(request, f"guides/{slug}.html", context)


@require_safe
def pricing(request: HttpRequest) -> HttpResponse:
    """The plans as `plans.toml` has them: what the page says is what is enforced."""
    rows = [
        ("Runs in a calendar month", [plan.numbers["monthly_runs"] for plan in PLANS.values()]),
        ("Runs at once", [plan.numbers["max_concurrency"] for plan in PLANS.values()]),
        ("Runs that may wait", [plan.numbers["max_queued"] for plan in PLANS.values()]),
        ("Memory of a run, MiB at most", [plan.limits["memory_mb"].ceiling for plan in PLANS.values()]),
        ("Days that runs are kept", [plan.numbers["retention_days"] for plan in PLANS.values()]),
    ]
    return render(request, "site/pricing.html", {"plans": PLANS.values(), "rows": rows})


@require_safe
def status(request: HttpRequest) -> HttpResponse:
    """Which languages can be run now, in which versions."""
    offered = versions.offered()
    languages = [(runtime.title, offered.get(language, [])) for language, runtime in catalogue().items()]
    return render(request, "site/status.html", {"languages": languages})
