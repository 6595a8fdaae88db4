"""Try a program: it runs like one that the API was given, and counts like one."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from accounts.models import Membership
from accounts.pages import member_page, show
from codeforge.errors import AccountSuspended, CodeForgeError, InvalidRequest
from executions import submission
from sandbox.catalogue import catalogue

_FIRST = {"language": "python", "source": "print(int(input()) ** 2)\n", "stdin": "4\n", "expected": ""}


@require_safe
@member_page()
def playground(request: HttpRequest, place: Membership) -> HttpResponse:
    return _page(request, place, typed=_FIRST, faults=[])


@require_POST
@member_page()
def run(request: HttpRequest, place: Membership) -> HttpResponse:
    """Then to the run's page, which fills in by itself. What was typed stays when it is refused."""
    if place.account.suspended_at is not None:
        raise AccountSuspended
    typed = {name: _lines(request.POST.get(name, "")) for name in _FIRST}
    body: dict[str, Any] = {name: typed[name] for name in ("language", "source", "stdin")}
    if typed["expected"]:
        body["expectedStdout"] = typed["expected"]
    try:
        accepted = submission.submit(account=place.account, body=body, idempotency_key=None)
    except InvalidRequest as refusal:
        return _page(request, place, typed=typed, faults=[f"{one.field}: {one.message}" for one in refusal.errors])
    except CodeForgeError as refusal:
        return _page(request, place, typed=typed, faults=[f"{refusal.title} {refusal.detail}"], status=refusal.status)
    return redirect("run", accepted.execution.pk)


def _lines(text: str) -> str:
    """A browser sends line ends as CR LF; programs and their input have LF."""
    return text.replace("\r\n", "\n")


def _page(
    request: HttpRequest, place: Membership, *, typed: dict[str, str], faults: list[str], status: int = 400
) -> HttpResponse:
    context = {"typed": typed, "faults": faults, "languages": catalogue().values()}
    return show(request, place, "runs/playground.html", context, status=status if faults else 200)
