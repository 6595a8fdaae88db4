"""People, the accounts they belong to, the keys of an account, and what it has used."""

from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower, Now


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
    BETA = "beta", "Beta"


class Account(models.Model):
    """A customer. Its row is the lock under which work is accepted and admitted: `select_for_update(no_key=True)`."""

    name = models.CharField(max_length=100)
    plan = models.CharField(max_length=20, choices=Plan, default=Plan.BETA)
    max_concurrency = models.PositiveIntegerField(default=5, help_text="Executions that may run at once.")
    max_queued = models.PositiveIntegerField(default=1_000, help_text="Executions that may wait besides.")
    monthly_runs = models.PositiveIntegerField(
        null=True, blank=True, default=500, help_text="Runs in a calendar month (UTC). Empty: without limit."
    )
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
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name = "API key"

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


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
