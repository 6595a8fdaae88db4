"""What staff see and do: accounts, people, keys, beta requests, usage, and the audit log of all that they change."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.html import format_html

from accounts import account_actions, audit, beta, invitations
from accounts.audited import AuditedAdmin, ReadOnlyAdmin, actor
from accounts.entitlements import end_override, entitlements
from accounts.keys import make_key, revoke
from accounts.models import (
    Account,
    ApiKey,
    AuditEntry,
    BetaRequest,
    Invitation,
    Membership,
    Override,
    UsagePeriod,
    User,
)
from accounts.usage import current_period, runs_used

# --- Accounts --------------------------------------------------------------------------------------------------------


class _ShownInline(admin.TabularInline):
    """Beside an account, to be seen only: the account's own actions change it."""

    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class MembershipInline(_ShownInline):
    model = Membership
    fields = ("user", "role", "created_at")
    readonly_fields = fields


class OverrideInline(_ShownInline):
    model = Override
    fields = ("name", "value", "reason", "expires_at", "created_by", "created_at")
    readonly_fields = fields


@admin.register(Account)
class AccountAdmin(AuditedAdmin):
    """The name is changed in the form; plan, numbers and suspension by actions that ask for a reason."""

    list_display = ("name", "plan", "used", "limit", "suspended_at", "created_at")
    list_filter = ("plan", ("suspended_at", admin.EmptyFieldListFilter))
    search_fields = ("name", "memberships__user__email")
    fields = ("name", "plan", "used", "limit", "suspended_at", "created_at")
    readonly_fields = ("plan", "used", "limit", "suspended_at", "created_at")
    inlines = (OverrideInline, MembershipInline)
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Account]:
        rows: QuerySet[Account] = super().get_queryset(request)
        return rows.prefetch_related("overrides")

    @admin.display(description="Runs this month")
    def used(self, account: Account) -> int:
        return runs_used(account_id=account.pk, start=current_period().start.date())

    @admin.display(description="of")
    def limit(self, account: Account) -> str:
        runs = entitlements(account).monthly_runs
        return "without limit" if runs is None else str(runs)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """An account is made by approving a beta request."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Account | None = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        act = self.admin_site.admin_view(self.act)
        return [path("<int:account_id>/act/<slug:action>/", act, name="act-on-account"), *super().get_urls()]

    def act(self, request: HttpRequest, account_id: int, action: str) -> HttpResponse:
        account = get_object_or_404(Account, pk=account_id)
        return account_actions.act(self, request, account, action)


@admin.register(Override)
class OverrideAdmin(ReadOnlyAdmin):
    """Made on the account's page. Deleting one gives the plan's number back."""

    list_display = ("account", "name", "value", "reason", "expires_at", "created_by", "created_at")
    list_select_related = ("account", "created_by")
    search_fields = ("account__name", "reason")

    def has_delete_permission(self, request: HttpRequest, obj: Override | None = None) -> bool:
        return request.user.has_perm("accounts.delete_override")

    def delete_model(self, request: HttpRequest, obj: Override) -> None:
        end_override(obj, by=actor(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Override]) -> None:
        for override in queryset.select_related("account"):
            end_override(override, by=actor(request))


# --- People ----------------------------------------------------------------------------------------------------------


class _UserCreationForm(AdminUserCreationForm):
    class Meta:
        model = User
        fields = ("email", "name")


class _UserChangeForm(UserChangeForm):
    class Meta:
        model = User
        fields = "__all__"


@admin.register(User)
class UserAdmin(AuditedAdmin, DjangoUserAdmin):
    form = _UserChangeForm
    add_form = _UserCreationForm
    ordering = ("email",)
    list_display = ("email", "name", "is_staff", "is_active", "last_login")
    list_filter = ("is_staff", "is_active", "groups")
    search_fields = ("email", "name")
    readonly_fields = ("last_login", "created_at")
    fieldsets = (
        (None, {"fields": ("email", "name", "password")}),
        ("Permissions", {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")}),
        ("Times", {"fields": ("last_login", "created_at")}),
    )
    add_fieldsets = (
        (None, {"classes": ("wide",), "fields": ("email", "name", "usable_password", "password1", "password2")}),
    )

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        # Django's page for passwords saves by itself, and says so only here.
        if request.resolver_match is not None and request.resolver_match.url_name == "auth_user_password_change":
            audit.record(actor=actor(request), action="password", subject=obj, before={}, after={})
        return super().log_change(request, obj, message)


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    list_display = ("email", "account", "role", "created_at", "expires_at", "accepted_at", "withdrawn_at")
    list_select_related = ("account",)
    search_fields = ("email", "account__name")
    exclude = ("digest",)
    actions = ("send_again",)

    def has_send_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.change_betarequest")

    @admin.action(description="Send again, with a new link", permissions=["send"])
    def send_again(self, request: HttpRequest, queryset: QuerySet[Invitation]) -> None:
        for invitation in queryset.filter(accepted_at=None).select_related("account"):
            sent = invitations.invite(
                invitation.account, invitation.email, role=invitation.role, by=invitation.invited_by
            )
            level, words = (messages.SUCCESS, "Sent to") if sent else (messages.ERROR, "Could not be sent to")
            self.message_user(request, f"{words} {invitation.email}.", level)


class _NoteForm(ActionForm):
    note = forms.CharField(max_length=500, required=False, label="Note")


@admin.register(BetaRequest)
class BetaRequestAdmin(ReadOnlyAdmin):
    """Choose some, an action and a note: approving makes the account and writes the mail."""

    list_display = ("name", "email", "organisation", "state", "created_at", "decided_by", "decided_at", "note")
    list_filter = ("state",)
    list_select_related = ("decided_by",)
    search_fields = ("name", "email", "organisation")
    ordering = ("-created_at", "-pk")
    action_form = _NoteForm
    actions = ("approve", "decline")

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.change_betarequest")

    @admin.action(description="Approve, and send the invitation", permissions=["decide"])
    def approve(self, request: HttpRequest, queryset: QuerySet[BetaRequest]) -> None:
        made = [beta.approve(pk, by=actor(request), note=_note(request)) for pk in _ids(queryset)]
        self._tell(request, "approved", sum(account is not None for account in made), len(made))

    @admin.action(description="Decline, with a mail", permissions=["decide"])
    def decline(self, request: HttpRequest, queryset: QuerySet[BetaRequest]) -> None:
        done = [beta.decline(pk, by=actor(request), note=_note(request)) for pk in _ids(queryset)]
        self._tell(request, "declined", sum(done), len(done))

    def _tell(self, request: HttpRequest, what: str, done: int, asked: int) -> None:
        already = f" {asked - done} had been decided already." if asked > done else ""
        self.message_user(request, f"{done} {what}.{already}")


def _note(request: HttpRequest) -> str:
    return request.POST.get("note", "").strip()[:500]


def _ids(queryset: QuerySet[BetaRequest]) -> list[int]:
    return list(queryset.order_by("created_at", "pk").values_list("pk", flat=True))


# --- Keys, usage, audit ----------------------------------------------------------------------------------------------


@admin.register(ApiKey)
class ApiKeyAdmin(AuditedAdmin):
    """Keys are made and revoked here, never changed: a key that means something else tomorrow is a trap."""

    list_display = ("prefix", "name", "account", "created_at", "last_used_at", "expires_at", "revoked_at")
    list_select_related = ("account",)
    search_fields = ("prefix", "name", "account__name")
    raw_id_fields = ("account",)
    fields = ("account", "name", "expires_at")
    actions = ("revoke_keys",)

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> list[Any]:
        fields = ["account", "name", "expires_at"]
        if obj is not None:
            fields += ["prefix", "scopes", "created_at", "revoked_at", "last_used_at", "last_used_address"]
        return fields

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        made, secret = make_key(account=obj.account, name=obj.name, expires_at=obj.expires_at)
        obj.pk = made.pk
        obj.refresh_from_db()
        form.was = {}
        # The one time that the secret is seen. The message is shown by the next page and then gone.
        self.message_user(
            request, format_html("The key, shown only this once: <code>{}</code>", secret), messages.WARNING
        )

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return obj is None and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False

    @admin.action(description="Revoke the selected keys", permissions=["change"])
    def revoke_keys(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        for key in queryset.select_related("account"):
            if revoke(key):
                audit.record(
                    actor=actor(request),
                    action="key revoked",
                    subject=key.account,
                    before={},
                    after={"key": key.prefix, "name": key.name},
                )
        self.message_user(request, "Revoked. They are refused from now on.")


@admin.register(UsagePeriod)
class UsagePeriodAdmin(ReadOnlyAdmin):
    list_display = ("account", "start", "runs")
    list_select_related = ("account",)
    search_fields = ("account__name",)


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    """Append-only: the database refuses everything else."""

    list_display = ("at", "actor_email", "action", "subject_type", "subject_name", "reason")
    search_fields = ("actor_email", "action", "subject_name", "=subject_id")
    ordering = ("-id",)
    show_full_result_count = False
