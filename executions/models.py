"""An execution and what surrounds it. `executions.lifecycle` is the only writer of `Execution.status`."""

import uuid

from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from accounts.models import Account
from executions.webhooks import models as webhooks  # noqa: F401  Django finds the models of an app in this module
from sandbox.verdict import Limit, Phase, Verdict

MAX_ATTEMPTS = 3


class Status(models.TextChoices):
    """Where an execution stands. The verdicts are those of the sandbox, word for word."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    SUCCEEDED = Verdict.SUCCEEDED.value
    COMPILE_ERROR = Verdict.COMPILE_ERROR.value
    RUNTIME_ERROR = Verdict.RUNTIME_ERROR.value
    TIMEOUT = Verdict.TIMEOUT.value
    MEMORY_LIMIT = Verdict.MEMORY_LIMIT.value
    OUTPUT_LIMIT = Verdict.OUTPUT_LIMIT.value
    CANCELLED = "CANCELLED"
    INTERNAL_ERROR = "INTERNAL_ERROR"


UNFINISHED = (Status.QUEUED, Status.RUNNING)
_QUEUED = Q(status=Status.QUEUED)
_RUNNING = Q(status=Status.RUNNING)
_UNFINISHED = Q(status__in=UNFINISHED)

# Not loaded where it is not needed: each may be megabytes.
INPUTS = ("source", "files", "stdin", "args", "expected_stdout", "tests")
OUTPUTS = ("stdout", "stderr", "compile_stdout", "compile_stderr", "test_results")


class Batch(models.Model):
    """Executions that were accepted together, or refused together."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+", db_index=False)
    idempotency_key = models.CharField(max_length=255, null=True)  # noqa: DJ001  null: none given; "" cannot be one
    fingerprint = models.BinaryField(max_length=32, null=True)
    total = models.PositiveIntegerField()
    metadata = models.JSONField(default=dict)
    cancelled_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "batches"
        indexes = (models.Index(F("account"), F("created_at").desc(), F("id").desc(), name="batch_listing"),)
        constraints = (models.UniqueConstraint(fields=["account", "idempotency_key"], name="batch_idempotent"),)

    def __str__(self) -> str:
        return str(self.pk)


class Execution(models.Model):
    """One program, run once or for each of its tests; again when we failed, or when the machine may be to blame.

    created → (waiting) → admitted: has one of the account's slots and a message in the broker → claimed by a worker,
    which is RUNNING with a lease → terminal. ``attempts`` is the fencing token: it counts claims, and only the
    holder of the latest may write the result.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+", db_index=False)
    batch = models.ForeignKey(Batch, null=True, on_delete=models.PROTECT, related_name="executions", db_index=False)
    idempotency_key = models.CharField(max_length=255, null=True)  # noqa: DJ001  null: none given; "" cannot be one
    fingerprint = models.BinaryField(max_length=32, null=True)

    # What was asked for.
    language = models.CharField(max_length=40)
    version = models.CharField(max_length=40, blank=True)
    source = models.TextField()
    files = models.JSONField(default=list)
    stdin = models.BinaryField(default=b"")
    args = models.JSONField(default=list)
    options = models.JSONField(default=dict)
    limits = models.JSONField()
    expected_stdout = models.BinaryField(null=True)
    checker = models.JSONField(null=True)
    # Each: id, stdin and expected stdout in base64, args, checker, limits; null when it has none of its own.
    tests = models.JSONField(null=True)
    stop_on_first_failure = models.BooleanField(default=False)
    # What it has to prove besides, for an evaluation: see `executions.evaluations.presets`.
    proof = models.CharField(max_length=10, null=True)  # noqa: DJ001  null: nothing
    isolation = models.CharField(max_length=20, default="execution")
    metadata = models.JSONField(default=dict)

    # Where it stands.
    status = models.CharField(max_length=20, choices=Status, default=Status.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    admitted_at = models.DateTimeField(null=True)
    send_after = models.DateTimeField(null=True)
    worker_id = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    cancel_requested_at = models.DateTimeField(null=True)
    erased_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    # What came of it.
    phase = models.CharField(max_length=10, null=True)  # noqa: DJ001  null: no verdict yet, as the API shows it
    passed = models.BooleanField(null=True)
    # Why it did not pass although it succeeded: see `executions.runner`.
    failure = models.CharField(max_length=20, null=True)  # noqa: DJ001  null: it passed, or nothing was expected
    exit_code = models.IntegerField(null=True)
    signal = models.CharField(max_length=20, null=True)  # noqa: DJ001  as above
    limit_exceeded = models.CharField(max_length=20, null=True)  # noqa: DJ001  as above
    stdout = models.BinaryField(default=b"")
    stderr = models.BinaryField(default=b"")
    stdout_bytes = models.PositiveBigIntegerField(default=0)
    stderr_bytes = models.PositiveBigIntegerField(default=0)
    stdout_truncated = models.BooleanField(default=False)
    stderr_truncated = models.BooleanField(default=False)
    compiled = models.BooleanField(default=False)
    compile_exit_code = models.IntegerField(null=True)
    compile_stdout = models.BinaryField(default=b"")
    compile_stderr = models.BinaryField(default=b"")
    compile_cached = models.BooleanField(default=False)
    compile_time_ms = models.PositiveIntegerField(null=True)
    wall_time_ms = models.PositiveIntegerField(null=True)
    cpu_time_ms = models.PositiveIntegerField(null=True)
    memory_peak_kb = models.PositiveBigIntegerField(null=True)
    start_ms = models.PositiveIntegerField(null=True)
    # One for each test that was run, as `executions.testing` makes them.
    test_results = models.JSONField(default=list)
    tests_total = models.PositiveSmallIntegerField(null=True)
    tests_passed = models.PositiveSmallIntegerField(null=True)
    runtime_version = models.CharField(max_length=100, blank=True)
    runtime_image = models.CharField(max_length=200, blank=True)
    sandbox = models.CharField(max_length=40, blank=True)
    sandbox_version = models.CharField(max_length=100, blank=True)
    error_code = models.CharField(max_length=40, null=True)  # noqa: DJ001  as above
    error_id = models.UUIDField(null=True)

    class Meta:
        indexes = (
            models.Index(
                F("account"),
                F("created_at"),
                F("id"),
                name="execution_waiting",
                condition=_QUEUED & Q(admitted_at=None),
            ),
            models.Index(F("send_after"), name="execution_unclaimed", condition=_QUEUED & Q(admitted_at__isnull=False)),
            models.Index(F("lease_until"), name="execution_leases", condition=_RUNNING),
            models.Index(F("worker_id"), name="execution_by_worker", condition=_RUNNING),
            models.Index(F("account"), name="execution_running", condition=_RUNNING),
            models.Index(
                F("account"),
                F("created_at").desc(),
                F("id").desc(),
                name="execution_listing",
                condition=Q(erased_at=None),
            ),
            # For staff and for retention, who see what was erased, too.
            models.Index(F("account"), F("created_at").desc(), F("id").desc(), name="execution_of_account"),
            models.Index(F("created_at").desc(), F("id").desc(), name="execution_newest"),
            models.Index(F("status"), F("created_at").desc(), F("id").desc(), name="execution_by_status"),
            models.Index(F("finished_at"), name="execution_ended"),
            models.Index(F("batch"), F("status"), name="execution_of_batch", condition=Q(batch__isnull=False)),
            GinIndex(fields=["metadata"], name="execution_metadata", opclasses=["jsonb_path_ops"]),
        )
        constraints = (
            models.UniqueConstraint(fields=["account", "idempotency_key"], name="execution_idempotent"),
            models.CheckConstraint(
                condition=Q(idempotency_key=None, fingerprint=None)
                | (Q(fingerprint__isnull=False, idempotency_key__isnull=False) & ~Q(idempotency_key="")),
                name="execution_key_has_fingerprint",
            ),
            models.CheckConstraint(condition=Q(status__in=Status.values), name="execution_status_known"),
            models.CheckConstraint(
                condition=Q(phase=None) | Q(phase__in=[phase.value for phase in Phase]), name="execution_phase_known"
            ),
            models.CheckConstraint(
                condition=Q(limit_exceeded=None) | Q(limit_exceeded__in=[limit.value for limit in Limit]),
                name="execution_limit_known",
            ),
            models.CheckConstraint(condition=Q(attempts__lte=MAX_ATTEMPTS), name="execution_attempts_bounded"),
            # Exactly a running execution has a worker with a lease.
            models.CheckConstraint(
                condition=(
                    _RUNNING
                    & Q(worker_id__isnull=False, lease_until__isnull=False, started_at__isnull=False, attempts__gte=1)
                    & Q(admitted_at__isnull=False)
                )
                | (~_RUNNING & Q(worker_id=None, lease_until=None)),
                name="execution_running_is_leased",
            ),
            # An admitted one that waits for a worker is always due to be sent again at some time.
            models.CheckConstraint(
                condition=~_QUEUED
                | Q(admitted_at=None, send_after=None)
                | Q(admitted_at__isnull=False, send_after__isnull=False),
                name="execution_admitted_is_sent",
            ),
            models.CheckConstraint(
                condition=(_UNFINISHED & Q(finished_at=None)) | (~_UNFINISHED & Q(finished_at__isnull=False)),
                name="execution_finished_has_time",
            ),
            # A verdict is about a program that ran; our failure has a code and never a verdict.
            models.CheckConstraint(
                condition=(Q(status=Status.INTERNAL_ERROR) & Q(error_code__isnull=False, error_id__isnull=False))
                | (~Q(status=Status.INTERNAL_ERROR) & Q(error_code=None, error_id=None)),
                name="execution_internal_error_has_code",
            ),
            models.CheckConstraint(
                condition=Q(phase=None) | Q(status__in=[verdict.value for verdict in Verdict]),
                name="execution_only_verdict_has_phase",
            ),
            models.CheckConstraint(condition=Q(exit_code=None) | Q(signal=None), name="execution_exits_or_is_killed"),
            models.CheckConstraint(
                condition=Q(checker=None, expected_stdout=None) | Q(checker__isnull=False),
                name="execution_expectation_has_checker",
            ),
            models.CheckConstraint(
                condition=Q(tests_passed=None) | Q(tests_passed__lte=F("tests_total")), name="execution_tests_counted"
            ),
            models.CheckConstraint(
                condition=Q(erased_at=None)
                | Q(source="", files=[], args=[], stdin=b"", expected_stdout=None, metadata={}, idempotency_key=None)
                & Q(tests=None, test_results=[])
                & Q(stdout=b"", stderr=b"", compile_stdout=b"", compile_stderr=b""),
                name="execution_erased_is_empty",
            ),
        )

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def is_finished(self) -> bool:
        return self.status not in UNFINISHED


class Evaluation(models.Model):
    """Problems and candidates, scored together. Its runs are a `Batch`; ``report`` is written once they have ended."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+", db_index=False)
    batch = models.OneToOneField(Batch, on_delete=models.PROTECT, related_name="evaluation")
    idempotency_key = models.CharField(max_length=255, null=True)  # noqa: DJ001  null: none given; "" cannot be one
    fingerprint = models.BinaryField(max_length=32)
    name = models.CharField(max_length=100, blank=True)
    language = models.CharField(max_length=40)
    isolation = models.CharField(max_length=20)
    limits = models.JSONField()
    ks = models.JSONField()
    report = models.JSONField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = (
            models.Index(F("account"), F("created_at").desc(), F("id").desc(), name="evaluation_listing"),
            models.Index(F("account"), F("fingerprint"), name="evaluation_by_content"),
        )
        constraints = (models.UniqueConstraint(fields=["account", "idempotency_key"], name="evaluation_idempotent"),)

    def __str__(self) -> str:
        return self.name or str(self.pk)


class Problem(models.Model):
    """A problem of an evaluation. ``name`` is the customer's id of it."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="problems", db_index=False)
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    preset = models.CharField(max_length=20, blank=True, help_text="Empty: it has tests with input and output.")

    class Meta:
        constraints = (models.UniqueConstraint(fields=["evaluation", "number"], name="problem_once"),)

    def __str__(self) -> str:
        return self.name


class Candidate(models.Model):
    """A program for a problem. Identical ones share an execution; the second and later are ``deduplicated``."""

    problem = models.ForeignKey(Problem, on_delete=models.CASCADE, related_name="candidates", db_index=False)
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    execution = models.ForeignKey(Execution, null=True, on_delete=models.SET_NULL, related_name="candidates")
    deduplicated = models.BooleanField(default=False)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["problem", "number"], name="candidate_once"),)

    def __str__(self) -> str:
        return self.name


class QueueState(models.Model):
    """How many unfinished executions an account has, so that nobody counts a long queue to accept one more.

    ``waiting`` have no slot yet, ``admitted`` have one (and are sent, or running). Triggers on the table of executions
    keep the two right, in the transaction of the change, whoever makes it: see the migration ``keep_queue_state``.
    """

    account = models.OneToOneField(Account, on_delete=models.CASCADE, primary_key=True, related_name="+")
    waiting = models.PositiveIntegerField(default=0)
    admitted = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.pk}: {self.waiting} waiting, {self.admitted} admitted"


class Worker(models.Model):
    """A worker process. Rows stay for a while after it, so that what it left can be told from a stranger's."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    host = models.CharField(max_length=255)
    realm = models.CharField(max_length=100, help_text="Boot and process namespace: within it, a pid means something.")
    pid = models.PositiveIntegerField()
    pid_started = models.PositiveBigIntegerField(help_text="When the pid began, in clock ticks since boot.")
    concurrency = models.PositiveIntegerField()
    pool = models.JSONField(default=dict, help_text="Its warm sandboxes, by language.")
    started_at = models.DateTimeField(db_default=Now())
    seen_at = models.DateTimeField(db_default=Now())
    stopped_at = models.DateTimeField(null=True)

    class Meta:
        indexes = (models.Index(F("seen_at"), name="worker_not_stopped", condition=Q(stopped_at=None)),)

    def __str__(self) -> str:
        return f"{self.host}:{self.pid}"


class RuntimeImage(models.Model):
    """A runtime that a worker has seen to work. ``GET /v1/runtimes`` offers those seen last."""

    language = models.CharField(max_length=40)
    version = models.CharField(max_length=100)
    image = models.CharField(max_length=200)
    sandbox = models.CharField(max_length=40)
    sandbox_version = models.CharField(max_length=100)
    seen_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["language", "version", "image", "sandbox", "sandbox_version"], name="runtime_image_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.language} {self.version}"
