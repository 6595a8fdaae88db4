"""Evaluations: how far they are, pass@k with its interval, every problem and candidate, and two side by side."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.models import Account, Membership
from accounts.pages import member_page, show
from codeforge.errors import InvalidRequest, NotFound
from executions import paging
from executions.batches import state
from executions.evaluations import scoring
from executions.models import Evaluation
from executions.pages.bars import parts_of

_PAGE = 50


@require_safe
@member_page()
def evaluation_list(request: HttpRequest, place: Membership) -> HttpResponse:
    try:
        page, following = paging.cut(
            scoring.evaluations_of(place.account), limit=_PAGE, cursor=request.GET.get("cursor") or None
        )
    except InvalidRequest:
        raise Http404 from None
    shown = [(one, state.state_of(one.batch).status) for one in page]
    return show(request, place, "evaluations/list.html", {"evaluations": shown, "following": following})


@require_safe
@member_page()
def detail(request: HttpRequest, place: Membership, evaluation_id: uuid.UUID) -> HttpResponse:
    evaluation = _get(place.account, evaluation_id)
    report = scoring.report_of(evaluation)
    others = scoring.evaluations_of(place.account).exclude(pk=evaluation.pk).order_by("-created_at")[:_PAGE]
    context = {
        "evaluation": evaluation,
        "status": state.state_of(evaluation.batch).status,
        "report": report,
        "bar": parts_of(_statuses(report)),
        # The hardest first: that is what one looks for.
        "problems": sorted(enumerate(report["problems"]), key=_difficulty),
        "others": others,
    }
    return show(request, place, "evaluations/detail.html", context)


@require_safe
@member_page()
def problem(request: HttpRequest, place: Membership, evaluation_id: uuid.UUID, number: int) -> HttpResponse:
    """The candidates of a problem, each one click from its run."""
    evaluation = _get(place.account, evaluation_id)
    found = evaluation.problems.filter(number=number).first()
    if found is None:
        raise Http404
    outcomes = list(scoring.outcomes(evaluation, problem=number))
    context = {"evaluation": evaluation, "problem": found, "outcomes": outcomes}
    return show(request, place, "evaluations/problem.html", context)


@dataclass(frozen=True, slots=True)
class Pair:
    """A problem in two evaluations: candidates that passed, of those with a score."""

    name: str
    left: str
    right: str
    flipped: str  # "", "won" or "lost", seen from the left


@require_safe
@member_page()
def compare(request: HttpRequest, place: Membership, evaluation_id: uuid.UUID) -> HttpResponse:
    """Two evaluations side by side: which problems were won and which were lost."""
    left = _get(place.account, evaluation_id)
    try:
        right = _get(place.account, uuid.UUID(request.GET.get("with", "")))
    except ValueError:
        raise Http404 from None
    reports = [scoring.report_of(one) for one in (left, right)]
    scores = [{problem["id"]: problem for problem in report["problems"]} for report in reports]
    names = [name for name in scores[0] if name in scores[1]]
    pairs = [_pair(name, scores[0][name], scores[1][name]) for name in names]
    pairs.sort(key=lambda pair: pair.flipped == "")
    ks = [k for k in reports[0]["passAtK"] if k in reports[1]["passAtK"]]
    context = {
        "left": left,
        "right": right,
        "pairs": pairs,
        "won": sum(pair.flipped == "won" for pair in pairs),
        "lost": sum(pair.flipped == "lost" for pair in pairs),
        "only": len(scores[0]) + len(scores[1]) - 2 * len(names),
        "passes": [(k, reports[0]["passAtK"][k], reports[1]["passAtK"][k]) for k in ks],
    }
    return show(request, place, "evaluations/compare.html", context)


def _pair(name: str, left: dict[str, Any], right: dict[str, Any]) -> Pair:
    solved = (left["c"] > 0, right["c"] > 0)
    flipped = {(False, True): "won", (True, False): "lost"}.get(solved, "")
    return Pair(name, f"{left['c']} of {left['n']}", f"{right['c']} of {right['n']}", flipped)


def _get(account: Account, evaluation_id: uuid.UUID) -> Evaluation:
    try:
        return scoring.get_for(account, evaluation_id)
    except NotFound:
        raise Http404 from None


def _statuses(report: dict[str, Any]) -> dict[str, int]:
    """Of all candidates: those that passed are told from those that only ended well."""
    counts: dict[str, int] = {"passed": sum(problem["c"] for problem in report["problems"])}
    for problem in report["problems"]:
        for status, number in problem["statuses"].items():
            counts[status] = counts.get(status, 0) + number
    if "SUCCEEDED" in counts:
        counts["wrong"] = counts.pop("SUCCEEDED") - counts["passed"]
    return counts


def _difficulty(numbered: tuple[int, dict[str, Any]]) -> tuple[float, int]:
    number, problem = numbered
    return (problem["c"] / problem["n"] if problem["n"] else 1.0, number)
