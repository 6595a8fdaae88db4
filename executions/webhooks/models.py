"""Endpoints, what is to be delivered to them, and every attempt."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from accounts.models import Account


class WebhookEndpoint(models.Model):
    """An address of an account. A removed one stays, empty: what ends at that moment may still point to it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+", db_index=False)
    idempotency_key = models.CharField(max_length=255, null=True)  # noqa: DJ001  null: none given; "" cannot be one
    fingerprint = models.BinaryField(max_length=32, null=True)
    url = models.CharField(max_length=2_048)
    events = ArrayField(models.CharField(max_length=40))
    description = models.CharField(max_length=200, blank=True)
    # Encrypted: see `executions.webhooks.secrets`. The former one signs, too, until its time is up.
    secret = models.BinaryField()
    former_secret = models.BinaryField(default=b"")
    former_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True)

    class Meta:
        indexes = (models.Index(F("account"), name="webhook_of_account", condition=Q(removed_at=None)),)
        constraints = (models.UniqueConstraint(fields=["account", "idempotency_key"], name="webhook_idempotent"),)

    def __str__(self) -> str:
        return str(self.pk)


class WebhookDelivery(models.Model):
    """One event for one endpoint. ``attempts`` counts claims and is the fencing token, as with executions."""

    class State(models.TextChoices):
        PENDING = "PENDING"
        DELIVERED = "DELIVERED"
        FAILED = "FAILED"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    endpoint = models.ForeignKey(WebhookEndpoint, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    event = models.CharField(max_length=40)
    subject_id = models.UUIDField(null=True)
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    created_at = models.DateTimeField()
    # The day of trying begins here: at creation, and again when it is asked for once more.
    round_began_at = models.DateTimeField()
    round_attempts = models.PositiveIntegerField(default=0)
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True)
    leased_until = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = (
            models.Index(F("next_attempt_at"), name="webhook_due", condition=Q(state="PENDING")),
            models.Index(F("endpoint"), name="webhook_leased", condition=Q(leased_until__isnull=False)),
            models.Index(F("endpoint"), F("created_at").desc(), F("id").desc(), name="webhook_deliveries"),
            models.Index(F("created_at"), name="webhook_oldest"),
        )
        constraints = (
            models.CheckConstraint(
                condition=Q(state="PENDING", next_attempt_at__isnull=False, ended_at=None)
                | Q(state__in=["DELIVERED", "FAILED"], next_attempt_at=None, leased_until=None, ended_at__isnull=False),
                name="webhook_pending_is_due",
            ),
        )

    def __str__(self) -> str:
        return str(self.pk)


class WebhookAttempt(models.Model):
    """What came back from one request; or why there was none."""

    delivery = models.ForeignKey(WebhookDelivery, on_delete=models.CASCADE, related_name="tries", db_index=False)
    number = models.PositiveIntegerField()
    started_at = models.DateTimeField()
    took_ms = models.PositiveIntegerField()
    status = models.PositiveSmallIntegerField(null=True)
    answer = models.BinaryField(default=b"")
    error = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["delivery", "number"], name="webhook_attempt_once"),)

    def __str__(self) -> str:
        return f"{self.delivery_id} {self.number}"
