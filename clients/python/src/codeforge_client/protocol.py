"""What is said to the server and when, without saying it: generators that yield what they need done.

A `Call` is answered with a `Reply`, a `Pause` with nothing. `codeforge_client.client` does both, waiting or awaiting:
there is one way of retrying, of waiting and of making keys, and no difference between the two clients.
"""

from __future__ import annotations

import hashlib
import json
import random
import uuid
from dataclasses import dataclass, field
from typing import Any, Dict, Generator, Iterable, Mapping, Optional, Sequence, Union

from codeforge_client.errors import NoAnswer, Refused

JSON = "application/json"
LINES = "application/x-ndjson"
WAIT_S = 50
_RETRIED = frozenset({429, 502, 503, 504})
_LONGEST_PAUSE_S = 60.0
UNFINISHED = frozenset({"QUEUED", "RUNNING"})


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """``error`` instead of the rest when there was none: the connection was lost, or never made."""

    status: int = 0
    body: bytes = b""
    retry_after_s: Optional[float] = None
    error: Optional[Exception] = None


@dataclass(frozen=True)
class Pause:
    seconds: float


Steps = Generator[Union[Call, Pause], Optional[Reply], Any]


def call(request: Call, *, tries: int) -> Steps:
    """The answer's JSON. Raises `Refused` and `NoAnswer`.

    Every request may be repeated: those that make something carry a key.
    """
    for number in range(tries):
        reply = yield request
        assert reply is not None
        is_last = number + 1 == tries
        if reply.error is not None:
            if is_last:
                raise NoAnswer(f"{request.method} {request.path}: {reply.error}") from reply.error
        elif reply.status < 400:
            return json.loads(reply.body) if reply.body else None
        elif reply.status not in _RETRIED or is_last:
            raise Refused(reply.status, _problem(reply.body))
        pause = reply.retry_after_s
        if pause is None:
            # Spread, so that a thousand clients of one outage do not come back in the same moment.
            pause = min(_LONGEST_PAUSE_S, 0.5 * 2**number) * random.uniform(0.5, 1.0)
        yield Pause(pause)
    raise AssertionError("tries must be 1 or more")


def execute(fields: Mapping[str, Any], *, fresh: bool, tries: int) -> Steps:
    """Run a program and wait for its end. The execution."""
    body = _json(fields)
    request = Call("POST", f"/v1/executions?wait={WAIT_S}", body, _headers(JSON, body, fresh=fresh))
    shown = yield from call(request, tries=tries)
    while shown["status"] in UNFINISHED:
        shown = yield from call(Call("GET", f"/v1/executions/{shown['executionId']}?wait={WAIT_S}"), tries=tries)
    return shown


def submit_evaluation(
    header: Mapping[str, Any],
    problems: Iterable[Mapping[str, Any]],
    candidates: Iterable[Mapping[str, Any]],
    *,
    fresh: bool,
    tries: int,
) -> Steps:
    """Send an evaluation as JSON Lines. The evaluation as it is then."""
    body = b"\n".join(_json(line) for line in (header, *problems, *candidates)) + b"\n"
    request = Call("POST", "/v1/evaluations", body, _headers(LINES, body, fresh=fresh))
    shown = yield from call(request, tries=tries)
    return shown


def get_evaluation(evaluation_id: str, *, wait_s: float, tries: int) -> Steps:
    shown = yield from call(Call("GET", f"/v1/evaluations/{evaluation_id}?wait={wait_s:g}"), tries=tries)
    return shown


def score_of(execution: Mapping[str, Any]) -> Optional[float]:
    """1.0 or 0.0; None when it has no score, because the failure was ours, or somebody cancelled it."""
    if execution["status"] in {"INTERNAL_ERROR", "CANCELLED"} or execution["passed"] is None:
        return None
    return 1.0 if execution["passed"] else 0.0


def reward_fields(
    language: str, source: str, tests: Sequence[Mapping[str, Any]], more: Mapping[str, Any]
) -> Dict[str, Any]:
    return {"language": language, "source": source, "tests": list(tests), "stopOnFirstFailure": True, **more}


def _headers(content_type: str, body: bytes, *, fresh: bool) -> Dict[str, str]:
    """The key is made from the content: the same content is the same run, whatever crashed in between."""
    key = str(uuid.uuid4()) if fresh else "content-" + hashlib.sha256(body).hexdigest()
    return {"Content-Type": content_type, "Idempotency-Key": key}


def _json(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _problem(body: bytes) -> Dict[str, Any]:
    """What a proxy in between says is no problem of ours."""
    try:
        problem = json.loads(body)
    except ValueError:
        problem = None
    return problem if isinstance(problem, dict) else {"detail": body[:200].decode("utf-8", "replace")}
