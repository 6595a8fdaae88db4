"""Every way in which CodeForge refuses a request. The API shows each as an RFC 9457 problem.

    CodeForgeError                   base: code, HTTP status, title, further members, headers
    ├── InvalidRequest               400  every wrong field named
    ├── LimitAbovePlan               400  a limit above the plan's ceiling
    ├── Unauthenticated              401
    ├── QuotaExceeded                402
    ├── AccountSuspended             403
    ├── InsufficientScope            403  the key may not do that
    ├── NotFound                     404  also for what belongs to another account
    ├── MethodNotAllowed             405
    ├── AlreadyFinished              409
    ├── PayloadTooLarge              413
    ├── IdempotencyKeyReused         422
    ├── QueueFull                    429
    ├── RateLimited                  429  too many requests in a minute
    ├── InternalError                500  we failed
    └── Unavailable                  503  we cannot accept anything now

Imports nothing of ours, so that every app may raise these. ``explanation`` is the text of the code's page.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

MAX_ERRORS = 50


@dataclass(frozen=True, slots=True)
class FieldError:
    """One wrong field. ``field`` is its path (``files[2].path``), ``message`` never repeats what was sent.

    ``code`` is for ourselves, and not shown.
    """

    field: str
    message: str
    code: str = ""


def join_path(path: str, key: str | int) -> str:
    """``files`` and 2 → ``files[2]``; ``limits`` and ``memoryMb`` → ``limits.memoryMb``.

    A key that was sent may hold anything: it is shown printable and short.
    """
    if isinstance(key, int):
        return f"{path}[{key}]"
    shown = key.encode("ascii", "backslashreplace").decode()
    shown = "".join(letter if letter.isprintable() else "?" for letter in shown)[:80]
    return f"{path}.{shown}" if path and shown else path or shown


def _shown(errors: Sequence[FieldError]) -> list[dict[str, str]]:
    """As the API shows them: a request may have more faults than anybody wants to read, or we to write."""
    shown = [{"field": error.field, "message": error.message} for error in errors[:MAX_ERRORS]]
    if len(errors) > MAX_ERRORS:
        shown.append({"field": "", "message": f"{len(errors) - MAX_ERRORS:,} more fields are wrong."})
    return shown


class CodeForgeError(Exception):
    """A refusal. ``detail`` is for the caller to read: it holds no program text, no key, nothing of another account."""

    code: ClassVar[str]
    status: ClassVar[int]
    title: ClassVar[str]
    explanation: ClassVar[str]
    # The pages are about the classes; a template would otherwise call them.
    do_not_call_in_templates: ClassVar[bool] = True

    def __init__(
        self,
        detail: str = "",
        *,
        members: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title
        self.members = dict(members or {})
        self.headers = dict(headers or {})


class InvalidRequest(CodeForgeError):
    code = "invalid_request"
    status = 400
    title = "The request is not valid."
    explanation = (
        "Something in the request is missing, malformed or unknown. `errors` names every wrong field with its path, "
        "such as `files[2].path`, and says what is expected. Nothing was accepted, nothing was counted, and an "
        "Idempotency-Key that came with the request is still free. Correct the fields and send it again."
    )

    def __init__(self, errors: Iterable[FieldError], detail: str = "") -> None:
        self.errors = tuple(errors)
        super().__init__(
            detail or "; ".join(f"{error.field or 'body'}: {error.message}" for error in self.errors[:3]),
            members={"errors": _shown(self.errors)},
        )


class LimitAbovePlan(CodeForgeError):
    code = "limit_above_plan"
    status = 400
    title = "A limit is above what the plan allows."
    explanation = (
        "`limits`, of the whole or of a test, asks for more than the account's plan allows. Limits are never lowered "
        "silently: a verdict is only comparable when the limits are the ones that were asked for. `ceilings` gives the "
        "highest value of each limit that was too high. Ask for that or less."
    )

    def __init__(self, errors: Sequence[FieldError], ceilings: Mapping[str, int]) -> None:
        super().__init__(members={"errors": _shown(errors), "ceilings": dict(ceilings)})


class Unauthenticated(CodeForgeError):
    code = "unauthenticated"
    status = 401
    title = "A valid API key is needed."
    explanation = (
        "Send `Authorization: Bearer <key>` with a key of your account. The answer is the same whether the key is "
        "missing, malformed, unknown, expired or revoked, so that nobody can find out which keys exist. A key is never "
        "taken from the query string."
    )

    def __init__(self) -> None:
        super().__init__(headers={"WWW-Authenticate": "Bearer"})


class QuotaExceeded(CodeForgeError):
    code = "quota_exceeded"
    status = 402
    title = "The month's runs are used up."
    explanation = (
        "All runs of the plan are used, or will be when the unfinished ones have ended. `used` counts both, `limit` is "
        "the plan's number, and `resetsAt` says when the next period begins (midnight UTC on the first of the month). "
        "Runs that ended in INTERNAL_ERROR, or were cancelled before they started, are not counted. Sending an "
        "earlier Idempotency-Key again still gives the execution that it made."
    )

    def __init__(self, *, used: int, limit: int, resets_at: datetime) -> None:
        super().__init__(
            f"{used} of {limit} runs of this month are used or under way.",
            members={"used": used, "limit": limit, "resetsAt": resets_at.isoformat().replace("+00:00", "Z")},
        )


class AccountSuspended(CodeForgeError):
    code = "account_suspended"
    status = 403
    title = "The account is suspended."
    explanation = (
        "The key is valid, but the account that it belongs to has been suspended by CodeForge. What was running has "
        "finished; what waits does not start. Write to us: the reply address of our mails reaches a person."
    )


class InsufficientScope(CodeForgeError):
    code = "insufficient_scope"
    status = 403
    title = "The key may not do that."
    explanation = (
        "The key is valid, but was made without the scope that this address needs, which `scope` names. Make one with "
        "that scope on the keys page of the dashboard. Reading needs `…:read`, changing something `…:write`."
    )

    def __init__(self, scope: str) -> None:
        super().__init__(f"It needs the scope {scope}.", members={"scope": scope})


class NotFound(CodeForgeError):
    code = "not_found"
    status = 404
    title = "There is nothing at this address."
    explanation = (
        "No such address, or no such object in your account. What belongs to another account, and what was deleted, is "
        "answered in the same way."
    )


class MethodNotAllowed(CodeForgeError):
    code = "method_not_allowed"
    status = 405
    title = "This address does not take that method."
    explanation = "The address exists, but not for the HTTP method that was used. `Allow` lists the methods it takes."


class AlreadyFinished(CodeForgeError):
    code = "already_finished"
    status = 409
    title = "It has already finished."
    explanation = (
        "Only what is QUEUED or RUNNING can be cancelled: this execution, or everything in this batch or evaluation, "
        "has its final status already. An evaluation is only retried when some candidate has no score."
    )


class PayloadTooLarge(CodeForgeError):
    code = "payload_too_large"
    status = 413
    title = "The request body is too large."
    explanation = (
        "The whole body may be 16 MiB. It was refused before it was read. A smaller one, of which single fields are "
        "too long, is refused as invalid_request, which names the fields."
    )


class IdempotencyKeyReused(CodeForgeError):
    code = "idempotency_key_reused"
    status = 422
    title = "The Idempotency-Key was used with another body."
    explanation = (
        "The key already belongs to an execution that was made from a different body. Bodies are compared by content: "
        "the order of fields and white space do not matter. Nothing was run. Use a new key for new work."
    )


class QueueFull(CodeForgeError):
    code = "queue_full"
    status = 429
    title = "The account's queue is full."
    explanation = (
        "As many executions are waiting as the plan allows. Nothing was accepted. `Retry-After` says in how many "
        "seconds there will be room again, if your executions go on to end as fast as in the last minutes. Wait that "
        "long, and send the request again with the same Idempotency-Key."
    )

    def __init__(self, *, waiting: int, limit: int, retry_after_s: int) -> None:
        super().__init__(
            f"{waiting} executions are waiting; the plan allows {limit}.",
            members={"queued": waiting, "limit": limit},
            headers={"Retry-After": str(retry_after_s)},
        )


class RateLimited(CodeForgeError):
    code = "rate_limited"
    status = 429
    title = "Too many requests in a minute."
    explanation = (
        "A key may read and write as often in a minute as the plan says; an address without a key less often. "
        "Nothing was accepted. Every answer tells in `RateLimit` what is left of the minute (`r`) and when it is over "
        "(`t`, seconds), and in `RateLimit-Policy` how much there is. Wait for `Retry-After` seconds, and send the "
        "request again with the same Idempotency-Key. To wait for a run, use `?wait=` instead of asking often."
    )

    def __init__(self, *, limit: int, retry_after_s: int) -> None:
        super().__init__(
            f"{limit} a minute are allowed.", members={"limit": limit}, headers={"Retry-After": str(retry_after_s)}
        )


class InternalError(CodeForgeError):
    code = "internal_error"
    status = 500
    title = "Something failed on our side."
    explanation = (
        "The request failed because of an error of ours, which has been recorded under `requestId`. Whether it took "
        "effect is not certain: send it again with the same Idempotency-Key, and it will not be run or counted twice."
    )


class Unavailable(CodeForgeError):
    code = "unavailable"
    status = 503
    title = "The service cannot take requests at the moment."
    explanation = (
        "A part of the service that is needed to accept work does not answer. Nothing was accepted. Send the request "
        "again after `Retry-After` seconds, with the same Idempotency-Key."
    )

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": "5"})


def codes() -> dict[str, type[CodeForgeError]]:
    """Every code with the class that explains it, in the order of their HTTP status."""
    classes = sorted(CodeForgeError.__subclasses__(), key=lambda error: (error.status, error.code))
    return {error.code: error for error in classes}
