"""Who else runs: most jobs in company, one that needs it alone."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Company:
    """Any number of jobs at once, or a single one that is alone. Who wants to be alone is next: nobody overtakes it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._present = 0
        self._arrivals = 0
        self._wanting = 0
        self._alone = False

    @contextmanager
    def joined(self, *, alone: bool) -> Iterator["Stay"]:
        """Wait until the job may run, then run it in the block."""
        with self._changed:
            if alone:
                self._wanting += 1
                self._changed.wait_for(lambda: not self._alone and self._present == 0)
                self._wanting -= 1
                self._alone = True
            else:
                self._changed.wait_for(lambda: not self._alone and self._wanting == 0)
            self._present += 1
            self._arrivals += 1
            stay = Stay(self, self._arrivals, self._present > 1)
        try:
            yield stay
        finally:
            with self._changed:
                self._present -= 1
                self._alone = self._alone and not alone
                self._changed.notify_all()

    def arrivals(self) -> int:
        with self._changed:
            return self._arrivals


class Stay:
    """One job's time here."""

    def __init__(self, company: Company, number: int, had_company: bool) -> None:
        self._company = company
        self._number = number
        self._had_company = had_company

    @property
    def had_company(self) -> bool:
        """Whether another job has run at any time since this one began."""
        return self._had_company or self._company.arrivals() > self._number
