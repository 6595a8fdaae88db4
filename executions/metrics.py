"""What an operator watches, in Prometheus' words. Read from the database when asked, so any web process can tell it."""

from collections.abc import Iterator

from django.db.models import Sum
from django.db.models.functions import Now
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from accounts import rates
from executions import lifecycle
from executions.models import Execution, QueueState, Status, Worker


def exposition() -> bytes:
    """The text that a scraper gets."""
    registry = CollectorRegistry()
    registry.register(_Executions())
    registry.register(_Workers())
    registry.register(_Rates())
    return generate_latest(registry)


class _Executions(Collector):
    def collect(self) -> Iterator[Metric]:
        unfinished = GaugeMetricFamily("codeforge_executions", "Unfinished executions", labels=["status"])
        # Kept counts and a partial index: how many executions there ever were makes no difference.
        kept = QueueState.objects.aggregate(waiting=Sum("waiting", default=0), admitted=Sum("admitted", default=0))
        running = Execution.objects.filter(status=Status.RUNNING).count()
        unfinished.add_metric([Status.QUEUED], max(0, kept["waiting"] + kept["admitted"] - running))
        unfinished.add_metric([Status.RUNNING], running)
        yield unfinished
        waiting = kept["waiting"]
        yield GaugeMetricFamily("codeforge_executions_without_slot", "Queued executions without a slot", waiting)


class _Workers(Collector):
    def collect(self) -> Iterator[Metric]:
        alive = list(Worker.objects.filter(stopped_at=None, seen_at__gt=Now() - lifecycle.LEASE))
        yield GaugeMetricFamily("codeforge_workers", "Workers that are alive", len(alive))
        pool = GaugeMetricFamily("codeforge_sandboxes", "Sandboxes by state", labels=["worker", "language", "state"])
        for worker in alive:
            for language, states in worker.pool.items():
                for state, number in states.items():
                    pool.add_metric([str(worker.pk), language, state], number)
        yield pool


class _Rates(Collector):
    def collect(self) -> Iterator[Metric]:
        enforced = int(rates.are_enforced())
        yield GaugeMetricFamily(
            "codeforge_rates_enforced", "Whether request rates are counted: 0 without Redis", enforced
        )
