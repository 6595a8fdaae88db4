"""People, the accounts they belong to, the keys of an account, and what it has used."""

from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower, Now

from accounts.plans import OVERRIDABLE
from accounts.scopes import SCOPES


class UserManager(BaseUserManager["User"]):
    """Users are found by e-mail, whatever its case."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        if not email:
            raise ValueError("A user needs an e-mail address.")
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email__iexact=username)


class User(AbstractBaseUser, PermissionsMixin):
    """A person. Signs in with an e-mail address."""

    email = models.EmailField(max_length=254, unique=True)
    name = models.CharField(max_length=100, blank=True)
    is_staff = models.BooleanField(default=False, help_text="May open the admin.")
    is_active = models.BooleanField(default=True, help_text="May sign in.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects: ClassVar[UserManager] = UserManager()

    EMAIL_FIELD = "email"
    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = (models.UniqueConstraint(Lower("email"), name="user_email_unique"),)

    def __str__(self) -> str:
        return self.email


class Plan(models.TextChoices):
    """The names in `plans.toml`, where what they give stands."""

    BETA = "beta", "Beta"
    PRO = "pro", "Pro"
    SCALE = "scale", "Scale"


class Account(models.Model):
    """A customer. Its row is the lock under which work is accepted and admitted: `select_for_update(no_key=True)`."""

    name = models.CharField(max_length=100)
    # Written by `accounts.entitlements.set_plan` alone.
    plan = models.CharField(max_length=20, choices=Plan, default=Plan.BETA)
    suspended_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when the API answers 403 and nothing new starts."
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    members: "models.ManyToManyField[User, Membership]" = models.ManyToManyField(User, through="Membership")

    class Meta:
        constraints = (
            models.CheckConstraint(condition=Q(plan__in=Plan.values), name="account_plan_known"),
            models.CheckConstraint(condition=~Q(name=""), name="account_has_name"),
        )

    def __str__(self) -> str:
        return self.name


class Override(models.Model):
    """One number of an account's plan that staff changed for it. `accounts.entitlements` reads and writes them."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="overrides", db_index=False)
    name = models.CharField(max_length=40, choices=[(name, name) for name in OVERRIDABLE])
    value = models.PositiveBigIntegerField(null=True, blank=True, help_text="Empty: without limit. 0: none.")
    reason = models.CharField(max_length=500)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="From then on the plan's number holds again.")
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+", editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["account", "name"], name="override_once"),
            models.CheckConstraint(condition=Q(name__in=OVERRIDABLE), name="override_name_known"),
            models.CheckConstraint(condition=~Q(reason=""), name="override_has_reason"),
            models.CheckConstraint(
                condition=~Q(name__startswith="limits.") | Q(value__isnull=False, value__gte=1, value__lte=1 << 40),
                name="override_limits_are_bounded",
            ),
        )

    def __str__(self) -> str:
        return f"{self.name} = {'unlimited' if self.value is None else self.value}"

    def as_shown(self) -> dict[str, Any]:
        """For the audit log."""
        expires = self.expires_at.isoformat() if self.expires_at else None
        return {"name": self.name, "value": self.value, "expiresAt": expires}


class Role(models.TextChoices):
    OWNER = "owner", "Owner"
    MEMBER = "member", "Member"


class Membership(models.Model):
    """A person's place in an account."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role, default=Role.MEMBER)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["account", "user"], name="membership_once"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role_known"),
        )

    def __str__(self) -> str:
        return f"{self.user_id} in {self.account_id}"


class ApiKey(models.Model):
    """A secret that acts for an account. Only its hash is here: see `accounts.keys`."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="keys")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=16, editable=False, help_text="The beginning, by which it is recognised.")
    digest = models.BinaryField(max_length=32, unique=True, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    scopes = ArrayField(models.CharField(max_length=40), help_text="What it may do: see `accounts.scopes`.")
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_used_address = models.GenericIPAddressField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name = "API key"
        constraints = (
            models.CheckConstraint(condition=Q(scopes__contained_by=list(SCOPES)), name="apikey_scopes_known"),
            models.CheckConstraint(condition=Q(scopes__len__gte=1), name="apikey_may_do_something"),
        )

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class BetaRequest(models.Model):
    """Somebody asks to take part. `accounts.beta` decides about it."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        APPROVED = "approved", "Approved"
        DECLINED = "declined", "Declined"

    name = models.CharField(max_length=100)
    email = models.EmailField(max_length=254)
    organisation = models.CharField(max_length=100, blank=True)
    purpose = models.TextField(max_length=2_000, help_text="What they want to evaluate.")
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    note = models.CharField(max_length=500, blank=True, help_text="Why it was decided so. Only staff see it.")
    decided_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    account = models.ForeignKey(Account, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = (
            # A second request of the same person while one waits adds nothing.
            models.UniqueConstraint(Lower("email"), name="betarequest_waits_once", condition=Q(state="waiting")),
            models.CheckConstraint(
                condition=Q(state="waiting", decided_at=None) | (~Q(state="waiting") & Q(decided_at__isnull=False)),
                name="betarequest_decided_has_time",
            ),
        )

    def __str__(self) -> str:
        return f"{self.name} <{self.email}>"


class Invitation(models.Model):
    """A link that makes its reader a member of an account, once. Only the hash of its token is here."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField(max_length=254)
    role = models.CharField(max_length=10, choices=Role, default=Role.MEMBER)
    digest = models.BinaryField(max_length=32, unique=True, editable=False)
    invited_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                "account", Lower("email"), name="invitation_open_once", condition=Q(accepted_at=None, withdrawn_at=None)
            ),
        )

    def __str__(self) -> str:
        return self.email


class AuditEntry(models.Model):
    """One change by staff, by a member, or by the service. A trigger of the database refuses to change or delete it.

    There are no foreign keys: what an entry speaks of may go, the entry stays.
    """

    at = models.DateTimeField(db_default=Now(), editable=False)
    actor_id = models.BigIntegerField(null=True)
    actor_email = models.CharField(max_length=254, blank=True, help_text="Empty: the service itself.")
    action = models.CharField(max_length=100)
    subject_type = models.CharField(max_length=100)
    subject_id = models.CharField(max_length=100)
    subject_name = models.CharField(max_length=200)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    reason = models.CharField(max_length=500, blank=True)

    class Meta:
        verbose_name_plural = "audit entries"
        indexes = (
            models.Index(F("subject_type"), F("subject_id"), F("id"), name="audit_by_subject"),
            models.Index(F("actor_id"), F("id"), name="audit_by_actor"),
        )

    def __str__(self) -> str:
        return f"{self.action}: {self.subject_name}"


class UsagePeriod(models.Model):
    """How many runs an account has used in a calendar month (UTC): the sum of its `UsageRecord`s."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    start = models.DateField()
    runs = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["account", "start"], name="usage_period_once"),
            models.CheckConstraint(condition=Q(start__day=1), name="usage_period_starts_on_the_first"),
        )

    def __str__(self) -> str:
        return f"{self.account_id} {self.start}: {self.runs}"


class UsageRecord(models.Model):
    """One run that counts, written by the transaction that finished it. Kept when the run is erased."""

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+", db_index=False)
    execution_id = models.UUIDField(unique=True)
    recorded_at = models.DateTimeField(db_default=Now())
    cpu_time_ms = models.PositiveBigIntegerField(default=0)
    wall_time_ms = models.PositiveBigIntegerField(default=0)

    class Meta:
        indexes = (models.Index(F("account"), F("recorded_at"), name="usage_by_account"),)

    def __str__(self) -> str:
        return str(self.execution_id)
