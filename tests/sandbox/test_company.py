"""Jobs in company, and one that needs to be alone."""

import threading
from collections.abc import Callable

import pytest

from sandbox import company as companies
from sandbox.company import Company, Stay
from sandbox.errors import RunCancelled


def never() -> bool:
    return False


def until(company: Company, holds: Callable[[], bool]) -> None:
    with company._changed:
        while not holds():
            assert company._changed.wait(10)


def test_who_wants_to_be_alone_waits_for_the_others_and_is_not_overtaken() -> None:
    company = Company()
    order: list[str] = []

    def run(name: str, *, alone: bool) -> None:
        with company.joined(alone=alone, gives_up=never):
            order.append(name)
            assert company._present == 1

    with company.joined(alone=False, gives_up=never):
        lonely = threading.Thread(target=run, args=("alone",), kwargs={"alone": True})
        lonely.start()
        while company._wanting == 0:
            threading.Event().wait(0.001)
        latecomer = threading.Thread(target=run, args=("late",), kwargs={"alone": False})
        latecomer.start()
        order.append("first")
    lonely.join(10)
    latecomer.join(10)
    assert order == ["first", "alone", "late"]


def test_one_that_waits_gives_up_when_it_is_woken_and_stands_in_nobodys_way() -> None:
    company = Company()
    cancelled = threading.Event()
    gave_up: list[bool] = []

    def wait_alone() -> None:
        with pytest.raises(RunCancelled), company.joined(alone=True, gives_up=cancelled.is_set):
            pass
        gave_up.append(True)

    with company.joined(alone=False, gives_up=never):
        lonely = threading.Thread(target=wait_alone)
        lonely.start()
        while company._wanting == 0:
            threading.Event().wait(0.001)
        cancelled.set()
        company.wake()
        lonely.join(10)
        assert gave_up == [True]
        with company.joined(alone=False, gives_up=never):
            pass


def test_the_others_never_wait_for_more_than_a_share_of_the_time() -> None:
    company = Company()
    assert company.reserve_alone(10)
    assert not company.reserve_alone(0.001)


def test_a_machine_is_crowded_when_no_core_was_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    idle = [100.0]
    now = [0.0]
    monkeypatch.setattr(companies, "idle_s", lambda: idle[0])
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    stay = Stay()
    now[0] = 10
    assert stay.was_crowded
    idle[0] += 10  # of twenty core seconds
    assert not stay.was_crowded
