"""What staff see of executions: everything, and nothing to change. Django's templates escape all of it."""

import uuid
from datetime import timedelta
from typing import Any, ClassVar

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Field, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils.functional import cached_property

from accounts.audited import ReadOnlyAdmin
from accounts.models import Account
from executions.models import INPUTS, OUTPUTS, Batch, Evaluation, Execution, QueueState, RuntimeImage, Worker
from executions.webhooks.models import WebhookDelivery, WebhookEndpoint
from sandbox.catalogue import catalogue

_SHOWN_BYTES = 20_000
_COUNTED = 10_000
_NAMED = 100


class _BoundedPaginator(Paginator):
    """Counts no further than anybody turns pages: the whole table takes longer than everything else on the page."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows[:_COUNTED].count())


class _LanguageFilter(admin.SimpleListFilter):
    """From the catalogue: Django's own filter would look through the table for what occurs."""

    title = parameter_name = "language"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(language, runtime.title) for language, runtime in catalogue().items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(language=self.value()) if self.value() in catalogue() else queryset


class _AgeFilter(admin.SimpleListFilter):
    title = "created"
    parameter_name = "created"
    ages: ClassVar = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7)}

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, f"in the last {name}") for name in self.ages]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        age = self.ages.get(self.value() or "")
        return queryset if age is None else queryset.filter(created_at__gt=Now() - age)


@admin.register(Execution)
class ExecutionAdmin(ReadOnlyAdmin):
    """Search takes an id, or a part of an account's name. Every order and filter has its index."""

    list_display = ("id", "account", "language", "status", "attempts", "created_at", "finished_at")
    list_filter = ("status", _LanguageFilter, _AgeFilter)
    list_select_related = ("account",)
    search_fields = ("id",)  # see `get_search_results`
    search_help_text = "The id of an execution, or a part of an account's name."
    ordering = ("-created_at", "-id")
    sortable_by = ()
    list_per_page = 50
    paginator = _BoundedPaginator
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Execution]:
        match = request.resolver_match
        rows: QuerySet[Execution] = super().get_queryset(request)
        return rows.defer(*INPUTS, *OUTPUTS) if match and match.url_name == "executions_execution_changelist" else rows

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Execution], search_term: str
    ) -> tuple[QuerySet[Execution], bool]:
        term = search_term.strip().replace("\0", "")
        if not term:
            return queryset, False
        try:
            return queryset.filter(pk=uuid.UUID(term)), False
        except ValueError:
            named = Account.objects.filter(name__icontains=term).values_list("pk", flat=True)
            return queryset.filter(account_id__in=list(named[:_NAMED])), False

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        hidden = {"fingerprint"}
        names = [field.name for field in Execution._meta.get_fields() if isinstance(field, Field)]  # noqa: SLF001  Django's own name for it
        return [f"{name}_shown" if name in _BYTES else name for name in names if name not in hidden]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return self.get_fields(request, obj)


_BYTES = ("stdin", "expected_stdout", "stdout", "stderr", "compile_stdout", "compile_stderr")


def _show(name: str) -> Any:
    @admin.display(description=name.replace("_", " "))
    def shown(self: ExecutionAdmin, execution: Execution) -> str:
        content = getattr(execution, name)
        return "" if content is None else bytes(content)[:_SHOWN_BYTES].decode("utf-8", "replace")

    return shown


for _name in _BYTES:
    setattr(ExecutionAdmin, f"{_name}_shown", _show(_name))


@admin.register(QueueState)
class QueueStateAdmin(ReadOnlyAdmin):
    list_display = ("account", "waiting", "admitted")
    list_select_related = ("account",)


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = ("id", "host", "pid", "concurrency", "started_at", "seen_at", "stopped_at", "pool")
    ordering = ("-seen_at",)


@admin.register(RuntimeImage)
class RuntimeImageAdmin(ReadOnlyAdmin):
    list_display = ("language", "version", "image", "sandbox", "sandbox_version", "seen_at")
    ordering = ("language", "-seen_at")


@admin.register(Batch)
class BatchAdmin(ReadOnlyAdmin):
    list_display = ("id", "account", "total", "created_at", "cancelled_at")
    list_select_related = ("account",)
    ordering = ("-created_at", "-id")
    exclude = ("fingerprint",)
    paginator = _BoundedPaginator
    show_full_result_count = False


@admin.register(Evaluation)
class EvaluationAdmin(ReadOnlyAdmin):
    list_display = ("id", "account", "name", "language", "created_at")
    list_select_related = ("account",)
    ordering = ("-created_at", "-id")
    exclude = ("fingerprint",)
    paginator = _BoundedPaginator
    show_full_result_count = False


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(ReadOnlyAdmin):
    list_display = ("id", "account", "url", "created_at", "removed_at")
    list_select_related = ("account",)
    ordering = ("-created_at", "-id")
    exclude = ("secret", "former_secret")


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ReadOnlyAdmin):
    list_display = ("id", "endpoint", "event", "state", "attempts", "created_at", "next_attempt_at")
    list_filter = ("state",)
    ordering = ("-created_at", "-id")
    paginator = _BoundedPaginator
    show_full_result_count = False
