"""Rows by the hundred thousand, copied from one by the database itself."""

from django.db import connection

from executions.models import Execution


def copy(template: Execution, *, number: int, seconds_apart: float = 0.01) -> None:
    """``number`` rows like ``template``, each a little older than the one before."""
    own = {"id": "gen_random_uuid()"}
    for name in ("created_at", "finished_at", "started_at"):
        own[name] = f"original.{name} - number * interval '{seconds_apart} seconds'"
    columns = [str(field.column) for field in Execution._meta.concrete_fields]
    values = [own.get(column, f"original.{column}") for column in columns]
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(
            f"""
            INSERT INTO executions_execution ({", ".join(columns)})
            SELECT {", ".join(values)} FROM executions_execution AS original, generate_series(1, %s) AS number
             WHERE original.id = %s
            """,
            [number, template.pk],
        )
        cursor.execute("RESET statement_timeout")
        cursor.execute("ANALYZE executions_execution")
