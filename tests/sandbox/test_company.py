"""Jobs in company, and one that needs to be alone."""

import threading

from sandbox.company import Company


def test_jobs_run_beside_each_other_and_know_it() -> None:
    company = Company()
    with company.joined(alone=False) as first:
        assert not first.had_company
        with company.joined(alone=False) as second:
            assert second.had_company
    assert first.had_company


def test_a_job_that_was_alone_all_the_time_had_no_company() -> None:
    company = Company()
    with company.joined(alone=False):
        pass
    with company.joined(alone=False) as stay:
        pass
    assert not stay.had_company


def test_who_wants_to_be_alone_waits_for_the_others_and_is_not_overtaken() -> None:
    company = Company()
    order: list[str] = []
    first_left, alone_waits = threading.Event(), threading.Event()

    def alone() -> None:
        alone_waits.set()
        with company.joined(alone=True) as stay:
            order.append("alone")
            assert not stay.had_company

    def late() -> None:
        with company.joined(alone=False):
            order.append("late")

    with company.joined(alone=False):
        lonely = threading.Thread(target=alone)
        lonely.start()
        alone_waits.wait(10)
        with company._changed:
            assert company._changed.wait_for(lambda: company._wanting == 1, 10) or company._wanting == 1
        latecomer = threading.Thread(target=late)
        latecomer.start()
        order.append("first")
        first_left.set()
    lonely.join(10)
    latecomer.join(10)
    assert order == ["first", "alone", "late"]
