"""Accepts an evaluation: every distinct program once, under one look at quota and queue."""

import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from accounts.entitlements import Entitlements, entitlements
from accounts.models import Account
from codeforge.errors import FieldError, IdempotencyKeyReused, InvalidRequest
from executions import dispatch, lifecycle, queries
from executions.evaluations import presets
from executions.evaluations.reading import Given, GivenProblem, read
from executions.models import Batch, Candidate, Evaluation, Execution, Problem
from executions.serializers import MAX_SOURCE_BYTES, read_execution, stored_tests
from executions.submission import require_room

ROUTE = "POST /v1/evaluations"
_INSERTED_TOGETHER = 1_000


@dataclass(frozen=True, slots=True)
class Cost:
    """What an evaluation would take: ``runs`` distinct programs; ``left`` runs of this month, None without limit."""

    runs: int
    candidates: int
    left: int | None


@dataclass(frozen=True, slots=True)
class Accepted:
    """``replayed``: an earlier request made it. ``cost``: it was a dry run, and there is no evaluation."""

    evaluation: Evaluation | None
    replayed: bool = False
    cost: Cost | None = None


@dataclass(slots=True)
class _Planned:
    """A problem with its distinct programs: for each candidate, which of them it is."""

    given: GivenProblem
    values: Mapping[str, Any]
    programs: list[str]
    of_candidate: list[int]


def submit(*, account: Account, body: Any, idempotency_key: str | None) -> Accepted:
    """Accept an evaluation whole, or refuse it whole. Raises as `executions.submission.submit`.

    The same key with the same content, or the same content with `resume`, is answered with what it made before.
    """
    entitled = entitlements(account)
    given = read(body, context={"entitlements": entitled})
    fingerprint = _fingerprint(given)
    if earlier := _earlier(account, given, idempotency_key, fingerprint):
        return Accepted(earlier, replayed=True)
    planned = [_plan(problem, given.header, entitled) for problem in given.problems]
    runs = sum(len(plan.programs) for plan in planned)
    if given.header["dry_run"]:
        load = queries.load_of(account)
        limit = entitled.monthly_runs
        left = None if limit is None else max(0, limit - load.used - load.unfinished)
        return Accepted(None, cost=Cost(runs, sum(len(plan.of_candidate) for plan in planned), left))
    with transaction.atomic():
        locked = Account.objects.select_for_update(no_key=True).get(pk=account.pk)
        if earlier := _earlier(locked, given, idempotency_key, fingerprint):
            return Accepted(earlier, replayed=True)
        require_room(locked, entitlements(locked), number=runs)
        evaluation = _insert(locked, given, planned, idempotency_key=idempotency_key, fingerprint=fingerprint)
        dispatch.admit_locked(locked)
    return Accepted(evaluation)


def _plan(problem: GivenProblem, header: Mapping[str, Any], entitled: Entitlements) -> _Planned:
    """Put the programs together. The problem's other fields are looked at once, with its first program."""
    programs: dict[str, int] = {}
    of_candidate = []
    for candidate in problem.candidates:
        source = _source(problem, header["language"], candidate.text, candidate.place)
        if len(source.encode("utf-8", "surrogatepass")) > MAX_SOURCE_BYTES:
            raise InvalidRequest([FieldError(candidate.place, f"The program has more than {MAX_SOURCE_BYTES} bytes.")])
        of_candidate.append(programs.setdefault(source, len(programs)))
    sources = list(programs)
    request = {"language": header["language"], "source": sources[0], "isolation": header["isolation"]}
    if header["version"]:
        request["version"] = header["version"]
    preset = problem.asked.get("preset")
    own_options = presets.options_of(preset, header["language"]) if preset else {}
    values = read_execution({**request, "options": {**own_options, **header["options"]}}, entitled=entitled)
    values["limits"] |= header["limits"]
    return _Planned(problem, values | _judging(problem, header["language"]), sources, of_candidate)


def _source(problem: GivenProblem, language: str, text: str, place: str) -> str:
    asked = problem.asked
    if "preset" not in asked:
        return text
    parts = presets.Parts(
        prompt=asked.get("prompt", ""),
        completion=text,
        test=asked["test"],
        entry_point=asked.get("entry_point", ""),
    )
    try:
        return presets.assemble(asked["preset"], language, parts)
    except presets.CannotAssemble as fault:
        raise InvalidRequest([FieldError(f"{problem.place}.test", str(fault))]) from None


def _judging(problem: GivenProblem, language: str) -> dict[str, Any]:
    """What its programs are held against."""
    asked = problem.asked
    if "preset" in asked:
        return {"proof": presets.proof_of(asked["preset"], language)}
    return stored_tests(asked) | {"stop_on_first_failure": True}


def _insert(
    account: Account, given: Given, planned: list[_Planned], *, idempotency_key: str | None, fingerprint: bytes
) -> Evaluation:
    header = given.header
    batch = Batch.objects.create(account=account, total=sum(len(plan.programs) for plan in planned))
    evaluation = Evaluation.objects.create(
        account=account,
        batch=batch,
        idempotency_key=idempotency_key,
        fingerprint=fingerprint,
        name=header["name"],
        language=header["language"],
        isolation=header["isolation"],
        limits=planned[0].values["limits"],
        ks=sorted(set(header["k"])),
    )
    problems = Problem.objects.bulk_create(
        [
            Problem(
                evaluation=evaluation, number=number, name=plan.given.name, preset=plan.given.asked.get("preset", "")
            )
            for number, plan in enumerate(planned)
        ],
        batch_size=_INSERTED_TOGETHER,
    )
    executions = [[_execution(account, batch, plan, source) for source in plan.programs] for plan in planned]
    lifecycle.create_many([execution for made in executions for execution in made])
    candidates = _candidates(planned, problems, executions)
    Candidate.objects.bulk_create(candidates, batch_size=_INSERTED_TOGETHER)
    return evaluation


def _execution(account: Account, batch: Batch, plan: _Planned, source: str) -> Execution:
    execution = Execution(account=account, batch=batch, **{**plan.values, "source": source})
    if execution.proof is not None:
        execution.stdin = presets.new_secret()
    return execution


def _candidates(
    planned: list[_Planned], problems: list[Problem], executions: list[list[Execution]]
) -> Iterator[Candidate]:
    number = 0
    for plan, problem, made in zip(planned, problems, executions, strict=True):
        seen: set[int] = set()
        for candidate, which in zip(plan.given.candidates, plan.of_candidate, strict=True):
            yield Candidate(
                problem=problem,
                number=number,
                name=candidate.name,
                execution=made[which],
                deduplicated=which in seen,
            )
            seen.add(which)
            number += 1


def _fingerprint(given: Given) -> bytes:
    """SHA-256 over all that is asked for, whichever way it was sent; but for how it is asked (`dryRun`, `resume`)."""
    sum_ = hashlib.sha256(ROUTE.encode())
    header = {name: value for name, value in given.header.items() if name not in {"dry_run", "resume"}}
    for part in (header, *((problem.asked, _texts(problem)) for problem in given.problems)):
        sum_.update(json.dumps(part, sort_keys=True, ensure_ascii=True, default=dict).encode() + b"\n")
    return sum_.digest()


def _texts(problem: GivenProblem) -> list[tuple[str, str]]:
    return [(candidate.name, candidate.text) for candidate in problem.candidates]


def _earlier(account: Account, given: Given, idempotency_key: str | None, fingerprint: bytes) -> Evaluation | None:
    mine = Evaluation.objects.filter(account=account)
    if idempotency_key is not None and (found := mine.filter(idempotency_key=idempotency_key).first()):
        if not hmac.compare_digest(bytes(found.fingerprint), fingerprint):
            raise IdempotencyKeyReused
        return found
    if given.header["resume"]:
        same = mine.filter(fingerprint=fingerprint, batch__cancelled_at=None)
        return same.order_by("-created_at").first()
    return None
