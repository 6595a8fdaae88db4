"""The admin of models that staff may change: whatever they change is in the audit log, with what was before."""

from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest

from accounts import audit
from accounts.models import User

_SECRET = frozenset({"password", "digest"})


class ReadOnlyAdmin(admin.ModelAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class AuditedAdmin(admin.ModelAdmin):
    """Writes an entry for what a form adds, changes or deletes. Actions write theirs where they act."""

    def save_model(self, request: HttpRequest, obj: Any, form: ModelForm, change: bool) -> None:
        stored = self.model.objects.filter(pk=obj.pk).first() if change else None
        # Kept until the lists of the form (groups, permissions) are saved, too.
        form.was = {} if stored is None else snapshot(stored)  # type: ignore[attr-defined]
        super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: ModelForm, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        before, after = form.was, snapshot(form.instance)  # type: ignore[attr-defined]
        if before != after:
            changed = {name for name in after if before.get(name) != after[name]}
            audit.record(
                actor=actor(request),
                action="change" if change else "add",
                subject=form.instance,
                before={name: before[name] for name in changed if name in before},
                after={name: after[name] for name in changed},
            )
        if "password" in form.changed_data:
            audit.record(actor=actor(request), action="password", subject=form.instance, before={}, after={})

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        audit.record(actor=actor(request), action="delete", subject=obj, before=snapshot(obj), after={})
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for obj in queryset:
            audit.record(actor=actor(request), action="delete", subject=obj, before=snapshot(obj), after={})
        super().delete_queryset(request, queryset)


def actor(request: HttpRequest) -> User:
    """Whoever is signed in. The admin lets nobody else come this far."""
    assert isinstance(request.user, User)
    return request.user


def snapshot(obj: Model) -> dict[str, Any]:
    """The fields of a row as the audit log holds them: no secrets, everything as text."""
    values: dict[str, Any] = {}
    meta = obj._meta  # noqa: SLF001  Django's own name for it
    for field in meta.concrete_fields:
        if field.name not in _SECRET:
            value = field.value_from_object(obj)
            values[field.name] = value if value is None or isinstance(value, bool | int) else str(value)
    for many in meta.many_to_many:
        values[many.name] = sorted(str(one) for one in getattr(obj, many.name).all())
    return values
