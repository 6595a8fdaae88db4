"""What staff see of executions: everything, and nothing to change. Django's templates escape all of it."""

from typing import Any

from django.contrib import admin
from django.db.models import Field, QuerySet
from django.http import HttpRequest

from executions.models import INPUTS, OUTPUTS, Execution, QueueState, RuntimeImage, Worker

_SHOWN_BYTES = 20_000


class ReadOnlyAdmin(admin.ModelAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Execution)
class ExecutionAdmin(ReadOnlyAdmin):
    list_display = ("id", "account", "language", "status", "attempts", "created_at", "finished_at")
    list_filter = ("status", "language")
    list_select_related = ("account",)
    search_fields = ("=id",)
    ordering = ("-created_at",)
    list_per_page = 50
    # Counting a table of millions takes longer than everything else on the page.
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Execution]:
        match = request.resolver_match
        rows: QuerySet[Execution] = super().get_queryset(request)
        return rows.defer(*INPUTS, *OUTPUTS) if match and match.url_name == "executions_execution_changelist" else rows

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        hidden = {"fingerprint"}
        names = [field.name for field in Execution._meta.get_fields() if isinstance(field, Field)]  # noqa: SLF001  Django\'s own name for it
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
