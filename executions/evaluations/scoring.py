"""From executions to scores: what passed, what cannot be scored, pass@k, and the report that is kept.

A failure of ours is no failure of theirs: what ended in INTERNAL_ERROR, or was cancelled, is left out of n.
"""

import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from accounts.entitlements import entitlements
from accounts.models import Account
from codeforge.errors import AlreadyFinished, NotFound
from executions import dispatch, lifecycle, queries
from executions.batches import state
from executions.evaluations import presets
from executions.evaluations.estimator import NAME, estimate, pass_at_k
from executions.models import UNFINISHED, Candidate, Evaluation, Execution, Status
from executions.serializers import LIMIT_NAMES
from executions.submission import require_room

_READ_TOGETHER = 2_000
_UNSCORED = frozenset({Status.INTERNAL_ERROR, Status.CANCELLED})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a candidate. ``passed`` is None as long as it has no score; ``reason``: why it did not pass."""

    problem: int
    problem_name: str
    name: str
    execution_id: uuid.UUID | None
    status: str
    passed: bool | None
    reason: str | None
    deduplicated: bool

    @property
    def is_unscored(self) -> bool:
        return self.passed is None and self.status not in UNFINISHED


def evaluations_of(account: Account) -> QuerySet[Evaluation]:
    """The account's evaluations, with their batches, without their reports."""
    return Evaluation.objects.select_related("batch").defer("report").filter(account=account)


def get_for(account: Account, evaluation_id: uuid.UUID) -> Evaluation:
    """The account's evaluation, with its batch. `NotFound` for what is not there or somebody else's."""
    evaluation = Evaluation.objects.select_related("batch").filter(account=account, pk=evaluation_id).first()
    if evaluation is None:
        raise NotFound
    return evaluation


def outcomes(evaluation: Evaluation, *, problem: int | None = None) -> Iterator[Outcome]:
    """Every candidate, or those of one problem, problem by problem, in the order in which they were given."""
    rows = Candidate.objects.filter(problem__evaluation=evaluation).order_by("problem__number", "number")
    if problem is not None:
        rows = rows.filter(problem__number=problem)
    columns = rows.values_list(
        "problem__number",
        "problem__name",
        "name",
        "execution_id",
        "execution__status",
        "execution__passed",
        "execution__failure",
        "deduplicated",
    )
    for number, problem_name, name, execution_id, status, passed, failure, deduplicated in columns.iterator(
        chunk_size=_READ_TOGETHER
    ):
        score, reason = _score(status, passed, failure)
        yield Outcome(number, problem_name, name, execution_id, status or "ERASED", score, reason, deduplicated)


def _score(status: str | None, passed: bool | None, failure: str | None) -> tuple[bool | None, str | None]:
    if status is None:
        return None, "erased"
    if status in UNFINISHED:
        return None, None
    if status in _UNSCORED or (status == Status.SUCCEEDED and passed is None):
        return None, status.lower() if status in _UNSCORED else "erased"
    if passed:
        return True, None
    return False, failure or status.lower()


def report_of(evaluation: Evaluation) -> dict[str, Any]:
    """Scores, problems and pass@k as they are now; kept once all runs have ended, so that it is made once."""
    if evaluation.report is not None:
        return dict(evaluation.report)
    is_over = queries.batch_is_finished(evaluation.batch_id)
    report = _make_report(evaluation)
    if is_over:
        # Not when a retry has begun meanwhile: then what was read is no longer the whole.
        Evaluation.objects.filter(pk=evaluation.pk, report__isnull=True).exclude(
            batch__executions__status__in=UNFINISHED
        ).update(report=report)
    return report


def _make_report(evaluation: Evaluation) -> dict[str, Any]:
    problems: dict[int, dict[str, Any]] = {}
    progress: Counter[str] = Counter()
    for outcome in outcomes(evaluation):
        problem = problems.setdefault(
            outcome.problem, {"id": outcome.problem_name, "n": 0, "c": 0, "unscored": 0, "statuses": Counter()}
        )
        problem["statuses"][outcome.status] += 1
        progress["total"] += 1
        progress["deduplicated"] += outcome.deduplicated
        if outcome.passed is not None:
            problem["n"] += 1
            problem["c"] += outcome.passed
            progress["scored"] += 1
        elif outcome.is_unscored:
            problem["unscored"] += 1
            progress["unscored"] += 1
        else:
            progress["running" if outcome.status == Status.RUNNING else "queued"] += 1
    shown = list(problems.values())
    for problem in shown:
        problem["statuses"] = dict(problem["statuses"])
        reachable = [k for k in evaluation.ks if k <= problem["n"]]
        problem["passAtK"] = {str(k): pass_at_k(problem["n"], problem["c"], k) for k in reachable}
    names = ("queued", "running", "scored", "unscored", "total", "deduplicated")
    return {
        "progress": {name: progress[name] for name in names},
        **_pass_at_k(evaluation.ks, shown),
        "problems": shown,
    }


def _pass_at_k(ks: list[int], problems: list[dict[str, Any]]) -> dict[str, Any]:
    reported: dict[str, Any] = {}
    not_reported = []
    for k in ks:
        short = [problem for problem in problems if problem["n"] < k]
        if short:
            reason = (
                f"{len(short)} of {len(problems)} problems have fewer than {k} scored candidates, "
                f"{short[0]['id']} has {short[0]['n']}."
            )
            not_reported.append({"k": k, "reason": reason})
        else:
            found = estimate([problem["passAtK"][str(k)] for problem in problems])
            reported[str(k)] = {"value": found.value, "low": found.low, "high": found.high}
    return {"passAtK": reported, "notReported": not_reported}


def cancel(evaluation: Evaluation) -> None:
    """Stop what has not ended. `AlreadyFinished` when all has."""
    state.cancel(evaluation.batch)


def retry(evaluation: Evaluation) -> int:
    """Run again what could not be scored. How many runs that takes is returned. `AlreadyFinished` when there is none.

    The new execution takes the place of the old one for all candidates that shared it; the old one stays, to be seen.
    """
    with transaction.atomic():
        account = Account.objects.select_for_update(no_key=True).get(pk=evaluation.account_id)
        unscored = Execution.objects.filter(
            candidates__problem__evaluation=evaluation, status__in=_UNSCORED, erased_at=None
        )
        again = list(unscored.distinct().order_by("created_at", "pk"))
        if not again:
            raise AlreadyFinished
        require_room(account, entitlements(account), number=len(again))
        fresh = [_again(execution) for execution in again]
        lifecycle.create_many(fresh)
        for old, new in zip(again, fresh, strict=True):
            Candidate.objects.filter(problem__evaluation=evaluation, execution=old).update(execution=new)
        Evaluation.objects.filter(pk=evaluation.pk).update(report=None)
        evaluation.batch.cancelled_at = None
        evaluation.batch.save(update_fields=["cancelled_at"])
        dispatch.admit_locked(account)
    evaluation.report = None
    return len(again)


_ASKED = (
    "account_id",
    "batch_id",
    "language",
    "version",
    "source",
    "files",
    "stdin",
    "args",
    "options",
    "limits",
    "expected_stdout",
    "checker",
    "tests",
    "tests_total",
    "stop_on_first_failure",
    "isolation",
    "metadata",
    "proof",
)


def _again(execution: Execution) -> Execution:
    made = Execution(**{name: getattr(execution, name) for name in _ASKED})
    if made.proof is not None:
        made.stdin = presets.new_secret()
    return made


def manifest_of(evaluation: Evaluation) -> dict[str, Any]:
    """What a paper's appendix needs: on what it ran, within which limits, and how it was estimated."""
    runs = Execution.objects.filter(batch=evaluation.batch_id).exclude(runtime_image="")
    images = runs.values_list("runtime_version", "runtime_image", "sandbox", "sandbox_version").distinct()
    names = ("version", "image", "sandbox", "sandboxVersion")
    used = evaluation.problems.exclude(preset="").values_list("preset", flat=True).distinct()
    return {
        "evaluationId": str(evaluation.pk),
        "language": evaluation.language,
        "runtimes": [dict(zip(names, image, strict=True)) for image in images.order_by("runtime_version")],
        "isolation": evaluation.isolation,
        "limits": {name: evaluation.limits[key] for name, key in LIMIT_NAMES.items()},
        "k": evaluation.ks,
        "estimator": NAME,
        "presets": [{"name": preset, "version": presets.VERSION} for preset in sorted(used)],
        "contentSha256": bytes(evaluation.fingerprint).hex(),
    }
