"""The pool of warm sandboxes, with sandboxes that are only told apart. What must hold whatever happens: no sandbox ever
runs programs of two accounts, none is handed out twice at once, and none is forgotten."""

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox import pool as pools
from sandbox.errors import SandboxLost, SandboxNotIsolated, SandboxStartFailed
from sandbox.pool import Pool, PoolSize


class Dummy:
    """Stands where a `sandbox.docker.Sandbox` does."""

    def __init__(self, log: "Log") -> None:
        self.log = log
        self.owner: str | None = None
        self.is_well = True
        self.used = threading.Lock()
        self.removed = 0

    def claim_for(self, account: str) -> None:
        if self.owner not in (None, account):
            raise SandboxNotIsolated
        self.owner = account

    def ping(self) -> None:
        if not self.is_well:
            raise SandboxLost

    def kill(self) -> None:
        self.is_well = False

    def remove(self) -> None:
        self.removed += 1


class Log:
    def __init__(self) -> None:
        self.made: list[Dummy] = []
        self.refuse = 0
        self.lock = threading.Lock()

    def start(self, language: str) -> Dummy:
        with self.lock:
            if self.refuse:
                self.refuse -= 1
                raise SandboxStartFailed
            self.made.append(Dummy(self))
            return self.made[-1]


def make_pool(log: Log, *, per_language: int = 2, memory_mb: int = 1_000, starters: int = 1) -> Pool:
    size = PoolSize(per_language=per_language, memory_mb=memory_mb)
    return Pool(log.start, ["python", "cpp"], size, starters=starters)  # type: ignore[arg-type]


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def pool(log: Log) -> Iterator[Pool]:
    made = make_pool(log)
    yield made
    made.close()
    assert [dummy.removed for dummy in log.made] == [1] * len(log.made)


def wait_until_ready(pool: Pool, language: str = "python", number: int = 1) -> None:
    with pool._changed:
        assert pool._changed.wait_for(lambda: len(pool._ready[language]) >= number, 10)


def test_what_stands_ready_is_handed_out_and_another_is_started(log: Log, pool: Pool) -> None:
    wait_until_ready(pool)
    first = pool._ready["python"][0]
    with pool.lease("python", account="a", reuse=False) as lease:
        assert lease.sandbox is first
    wait_until_ready(pool)
    assert pool._ready["python"][0] is not first


def test_a_sandbox_that_is_not_well_is_replaced_without_anybody_noticing(log: Log, pool: Pool) -> None:
    wait_until_ready(pool)
    pool._ready["python"][0].kill()
    with pool.lease("python", account="a", reuse=False) as lease:
        assert lease.sandbox.is_well  # type: ignore[attr-defined]


def test_without_reuse_a_sandbox_is_destroyed_after_one_program(log: Log, pool: Pool) -> None:
    with pool.lease("python", account="a", reuse=False) as lease:
        lease.reusable = True
        used = lease.sandbox
    with pool.lease("python", account="a", reuse=True) as lease:
        assert lease.sandbox is not used


def test_with_reuse_the_same_account_gets_it_again_and_no_other(log: Log, pool: Pool) -> None:
    with pool.lease("python", account="a", reuse=True) as lease:
        lease.reusable = True
        used = lease.sandbox
    with pool.lease("python", account="b", reuse=True) as lease:
        assert lease.sandbox is not used
    with pool.lease("cpp", account="a", reuse=True) as lease:
        assert lease.sandbox is not used
    with pool.lease("python", account="a", reuse=True) as lease:
        assert lease.sandbox is used


def test_what_was_not_called_reusable_or_broke_off_is_not_used_again(log: Log, pool: Pool) -> None:
    with pool.lease("python", account="a", reuse=True) as lease:
        first = lease.sandbox
    broken = pool.lease("python", account="a", reuse=True)
    lease = broken.__enter__()
    second = lease.sandbox
    lease.reusable = True
    broken.__exit__(SandboxLost, SandboxLost(), None)
    with pool.lease("python", account="a", reuse=True) as lease:
        assert lease.sandbox not in (first, second)


def test_a_sandbox_is_recycled_after_so_many_programs(log: Log, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "REUSE_EXECUTIONS", 3)
    seen = []
    for _ in range(4):
        with pool.lease("python", account="a", reuse=True) as lease:
            lease.reusable = True
            seen.append(lease.sandbox)
    assert seen[0] is seen[1] is seen[2]
    assert seen[3] is not seen[0]


def test_a_sandbox_is_recycled_after_so_long(log: Log, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "REUSE_SECONDS", 0)
    with pool.lease("python", account="a", reuse=True) as lease:
        lease.reusable = True
        used = lease.sandbox
    with pool.lease("python", account="a", reuse=True) as lease:
        assert lease.sandbox is not used


def test_the_engine_may_refuse_for_a_while(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "RETRY_SECONDS", 0)
    log.refuse = 3
    pool = make_pool(log)
    wait_until_ready(pool)
    pool.close()


def test_demand_is_met_and_memory_is_bounded(log: Log) -> None:
    pool = make_pool(log, per_language=4, memory_mb=3 * pools.SANDBOX_MB)
    leases = [pool.lease("python", account="a", reuse=False) for _ in range(4)]
    for lease in leases:
        lease.__enter__()
    with pool._changed:
        assert pool._changed.wait_for(lambda: sum(map(len, pool._ready.values())) == 3, 10)
    assert pool.state()["python"]["target"] == 4
    for lease in leases:
        lease.__exit__(None, None, None)
    pool.close()


def test_the_one_place_refuses_a_second_account() -> None:
    from sandbox.docker import Sandbox  # noqa: PLC0415  its only use in this lane

    sandbox = Sandbox.__new__(Sandbox)
    sandbox._owner = None
    sandbox.claim_for("a")
    sandbox.claim_for("a")
    with pytest.raises(SandboxNotIsolated):
        sandbox.claim_for("b")


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), threads=st.integers(1, 6), accounts=st.integers(1, 4))
def test_no_sandbox_ever_runs_programs_of_two_accounts(seed: int, threads: int, accounts: int) -> None:
    """Threads of several accounts take, keep, break and return sandboxes in any order; starts fail now and then."""
    log = Log()
    pool = make_pool(log, starters=2)
    ran: dict[int, set[str]] = {}

    def live(number: int) -> None:
        chance = random.Random(f"{seed} {number}")
        for _ in range(20):
            account = f"account-{chance.randrange(accounts)}"
            if chance.random() < 0.1:
                log.refuse = 1
            try:
                with pool.lease(
                    chance.choice(["python", "cpp"]), account=account, reuse=chance.random() < 0.8
                ) as lease:
                    assert lease.sandbox.used.acquire(blocking=False), "handed out twice at once"  # type: ignore[attr-defined]
                    ran.setdefault(id(lease.sandbox), set()).add(account)
                    lease.sandbox.used.release()  # type: ignore[attr-defined]
                    if chance.random() < 0.2:
                        lease.sandbox.kill()
                    lease.reusable = chance.random() < 0.8
            except SandboxStartFailed:
                pass

    with ThreadPoolExecutor(threads) as pool_of_threads:
        list(pool_of_threads.map(live, range(threads)))
    pool.close()
    assert all(len(of) == 1 for of in ran.values())
    assert [dummy.removed for dummy in log.made] == [1] * len(log.made), "forgotten, or removed twice"


def test_what_is_in_use_when_the_pool_closes_is_destroyed_by_who_uses_it(log: Log) -> None:
    pool = make_pool(log)
    with pool.lease("python", account="one", reuse=True) as lease:
        pool.close()
        lease.reusable = True
    assert [dummy.removed for dummy in log.made] == [1] * len(log.made)
