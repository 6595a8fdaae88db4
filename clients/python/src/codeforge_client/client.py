"""The clients. `codeforge_client.protocol` says what to do, these do it: one waits, the other awaits."""

from __future__ import annotations

import asyncio
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, AsyncIterator, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Type

import httpx

from codeforge_client import protocol
from codeforge_client.errors import CodeForgeError, Refused
from codeforge_client.protocol import Call, Reply, Steps

Execution = Dict[str, Any]
Evaluation = Dict[str, Any]
Progress = Callable[[Evaluation], None]

TRIES = 8
CONCURRENCY = 16
_TIMEOUT = httpx.Timeout(protocol.WAIT_S + 30, connect=10)


def _connection(url: Optional[str], key: Optional[str]) -> Dict[str, Any]:
    address = url or os.environ.get("CODEFORGE_URL")
    secret = key or os.environ.get("CODEFORGE_API_KEY")
    if not address or not secret:
        raise CodeForgeError("Say where CodeForge is and with which key: CODEFORGE_URL and CODEFORGE_API_KEY.")
    return {
        "base_url": address.rstrip("/"),
        "headers": {"Authorization": f"Bearer {secret}"},
        "timeout": _TIMEOUT,
        "limits": httpx.Limits(max_connections=None),
    }


def _reply(response: httpx.Response) -> Reply:
    retry_after = response.headers.get("Retry-After", "")
    seconds = float(retry_after) if retry_after.isdigit() else None
    return Reply(response.status_code, response.content, seconds)


def _header(language: str, k: Sequence[int], more: Mapping[str, Any]) -> Dict[str, Any]:
    return {"language": language, "k": list(k), **more}


class Client:
    """Thread-safe. ``url`` and ``key`` come from CODEFORGE_URL and CODEFORGE_API_KEY when they are not given."""

    def __init__(self, url: Optional[str] = None, key: Optional[str] = None, *, tries: int = TRIES) -> None:
        self._http = httpx.Client(**_connection(url, key))
        self._tries = tries

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def execute(self, language: str, source: str, *, fresh: bool = False, **fields: Any) -> Execution:
        """Run a program and wait for its end. ``fields`` as the API has them: ``stdin``, ``limits``, ``tests``, …

        The same program with the same fields is not run again, but answered with what came of it, unless ``fresh``.
        """
        asked = {"language": language, "source": source, **fields}
        found: Execution = self._do(protocol.execute(asked, fresh=fresh, tries=self._tries))
        return found

    def execute_many(
        self, programs: Iterable[Mapping[str, Any]], *, concurrency: int = CONCURRENCY, fresh: bool = False
    ) -> List[Execution]:
        """Run many, at most ``concurrency`` at once. In the order in which they were given."""
        with ThreadPoolExecutor(concurrency) as pool:
            return list(pool.map(lambda program: self.execute(fresh=fresh, **program), programs))

    def reward(self, language: str, source: str, tests: Sequence[Mapping[str, Any]], **fields: Any) -> Optional[float]:
        """1.0 when all tests pass, 0.0 when one does not, None when there is no score: leave that sample out."""
        return protocol.score_of(self.execute(**protocol.reward_fields(language, source, tests, fields)))

    def evaluate(
        self,
        *,
        language: str,
        problems: Iterable[Mapping[str, Any]],
        candidates: Iterable[Mapping[str, Any]],
        k: Sequence[int] = (1,),
        on_progress: Optional[Progress] = None,
        fresh: bool = False,
        **header: Any,
    ) -> Evaluation:
        """Score candidates and wait for the end. Sent again, the same content goes on where it was."""
        sent = protocol.submit_evaluation(
            _header(language, k, header), problems, candidates, fresh=fresh, tries=self._tries
        )
        now: Evaluation = self._do(sent)
        while now.get("status") in protocol.UNFINISHED:
            if on_progress is not None:
                on_progress(now)
            wait_s = 1 if on_progress is not None else protocol.WAIT_S
            now = self._do(protocol.get_evaluation(now["evaluationId"], wait_s=wait_s, tries=self._tries))
        if on_progress is not None and "progress" in now:
            on_progress(now)
        return now

    def results(self, evaluation_id: str) -> Iterator[Dict[str, Any]]:
        """Every candidate of an evaluation, in the order in which they were given."""
        with self._http.stream("GET", f"/v1/evaluations/{evaluation_id}/results") as response:
            if response.status_code >= 400:
                raise Refused(response.status_code, json.loads(response.read()))
            for line in response.iter_lines():
                yield json.loads(line)

    def _do(self, steps: Steps) -> Any:
        reply: Optional[Reply] = None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration as end:
                return end.value
            if isinstance(step, Call):
                reply = self._send(step)
            else:
                reply = None
                time.sleep(step.seconds)

    def _send(self, call: Call) -> Reply:
        try:
            return _reply(self._http.request(call.method, call.path, content=call.body, headers=dict(call.headers)))
        except httpx.TransportError as error:
            return Reply(error=error)


class AsyncClient:
    """`Client`, to be awaited."""

    def __init__(self, url: Optional[str] = None, key: Optional[str] = None, *, tries: int = TRIES) -> None:
        self._http = httpx.AsyncClient(**_connection(url, key))
        self._tries = tries

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def execute(self, language: str, source: str, *, fresh: bool = False, **fields: Any) -> Execution:
        """As `Client.execute`."""
        asked = {"language": language, "source": source, **fields}
        found: Execution = await self._do(protocol.execute(asked, fresh=fresh, tries=self._tries))
        return found

    async def execute_many(
        self, programs: Iterable[Mapping[str, Any]], *, concurrency: int = CONCURRENCY, fresh: bool = False
    ) -> List[Execution]:
        """As `Client.execute_many`."""
        room = asyncio.Semaphore(concurrency)

        async def one(program: Mapping[str, Any]) -> Execution:
            async with room:
                return await self.execute(fresh=fresh, **program)

        return list(await asyncio.gather(*(one(program) for program in programs)))

    async def reward(
        self, language: str, source: str, tests: Sequence[Mapping[str, Any]], **fields: Any
    ) -> Optional[float]:
        """As `Client.reward`."""
        return protocol.score_of(await self.execute(**protocol.reward_fields(language, source, tests, fields)))

    async def evaluate(
        self,
        *,
        language: str,
        problems: Iterable[Mapping[str, Any]],
        candidates: Iterable[Mapping[str, Any]],
        k: Sequence[int] = (1,),
        fresh: bool = False,
        **header: Any,
    ) -> Evaluation:
        """As `Client.evaluate`."""
        sent = protocol.submit_evaluation(
            _header(language, k, header), problems, candidates, fresh=fresh, tries=self._tries
        )
        now: Evaluation = await self._do(sent)
        while now.get("status") in protocol.UNFINISHED:
            asked = protocol.get_evaluation(now["evaluationId"], wait_s=protocol.WAIT_S, tries=self._tries)
            now = await self._do(asked)
        return now

    async def results(self, evaluation_id: str) -> AsyncIterator[Dict[str, Any]]:
        """As `Client.results`."""
        async with self._http.stream("GET", f"/v1/evaluations/{evaluation_id}/results") as response:
            if response.status_code >= 400:
                raise Refused(response.status_code, json.loads(await response.aread()))
            async for line in response.aiter_lines():
                yield json.loads(line)

    async def _do(self, steps: Steps) -> Any:
        reply: Optional[Reply] = None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration as end:
                return end.value
            if isinstance(step, Call):
                reply = await self._send(step)
            else:
                reply = None
                await asyncio.sleep(step.seconds)

    async def _send(self, call: Call) -> Reply:
        try:
            response = await self._http.request(call.method, call.path, content=call.body, headers=dict(call.headers))
        except httpx.TransportError as error:
            return Reply(error=error)
        return _reply(response)
