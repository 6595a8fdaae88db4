"""What staff see of people, accounts and keys."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from accounts.keys import make_key, revoke
from accounts.models import Account, ApiKey, Membership, UsagePeriod, User


class MembershipInline(admin.TabularInline):
    model = Membership
    raw_id_fields = ("user",)
    extra = 0


@admin.register(Account)
class AccountAdmin(admin.ModelAdmin):
    list_display = ("name", "plan", "suspended_at", "created_at")
    list_filter = ("plan",)
    search_fields = ("name", "memberships__user__email")
    readonly_fields = ("created_at",)
    inlines = (MembershipInline,)


class _UserCreationForm(AdminUserCreationForm):
    class Meta:
        model = User
        fields = ("email", "name")


class _UserChangeForm(UserChangeForm):
    class Meta:
        model = User
        fields = "__all__"


@admin.register(User)
class UserAdmin(DjangoUserAdmin):
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


@admin.register(ApiKey)
class ApiKeyAdmin(admin.ModelAdmin):
    """Keys are made and revoked here, never changed: a key that means something else tomorrow is a trap."""

    list_display = ("prefix", "name", "account", "created_at", "last_used_at", "expires_at", "revoked_at")
    list_select_related = ("account",)
    search_fields = ("prefix", "name", "account__name")
    raw_id_fields = ("account",)
    fields = ("account", "name", "expires_at")
    actions = ("revoke_keys",)

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        made, secret = make_key(account=obj.account, name=obj.name, expires_at=obj.expires_at)
        obj.pk = made.pk
        obj.refresh_from_db()
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
        for key in queryset:
            revoke(key)
            self.log_change(request, key, "Revoked.")
        self.message_user(request, "Revoked. They are refused from now on.")


@admin.register(UsagePeriod)
class UsagePeriodAdmin(admin.ModelAdmin):
    list_display = ("account", "start", "runs")
    list_select_related = ("account",)
    search_fields = ("account__name",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: UsagePeriod | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: UsagePeriod | None = None) -> bool:
        return False
