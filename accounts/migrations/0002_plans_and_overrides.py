import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
from django.conf import settings
from django.db import migrations, models

# What the columns said of every account, as the beta plan has it. Only what differs becomes an override.
BETA = {"monthly_runs": 500, "max_concurrency": 5, "max_queued": 1_000}


def carry_over(apps, schema_editor):
    Account = apps.get_model("accounts", "Account")
    Override = apps.get_model("accounts", "Override")
    for account in Account.objects.iterator():
        Override.objects.bulk_create(
            Override(account=account, name=name, value=getattr(account, name), reason="Set before there were plans.")
            for name, value in BETA.items()
            if getattr(account, name) != value
        )


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Override",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "name",
                    models.CharField(
                        choices=[
                            ("monthly_runs", "monthly_runs"),
                            ("max_concurrency", "max_concurrency"),
                            ("max_queued", "max_queued"),
                            ("reads_per_minute", "reads_per_minute"),
                            ("writes_per_minute", "writes_per_minute"),
                            ("retention_days", "retention_days"),
                            ("limits.wall_time_ms.default", "limits.wall_time_ms.default"),
                            ("limits.wall_time_ms.ceiling", "limits.wall_time_ms.ceiling"),
                            ("limits.cpu_time_ms.default", "limits.cpu_time_ms.default"),
                            ("limits.cpu_time_ms.ceiling", "limits.cpu_time_ms.ceiling"),
                            ("limits.compile_time_ms.default", "limits.compile_time_ms.default"),
                            ("limits.compile_time_ms.ceiling", "limits.compile_time_ms.ceiling"),
                            ("limits.memory_mb.default", "limits.memory_mb.default"),
                            ("limits.memory_mb.ceiling", "limits.memory_mb.ceiling"),
                            ("limits.processes.default", "limits.processes.default"),
                            ("limits.processes.ceiling", "limits.processes.ceiling"),
                            ("limits.output_bytes.default", "limits.output_bytes.default"),
                            ("limits.output_bytes.ceiling", "limits.output_bytes.ceiling"),
                            ("limits.disk_mb.default", "limits.disk_mb.default"),
                            ("limits.disk_mb.ceiling", "limits.disk_mb.ceiling"),
                        ],
                        max_length=40,
                    ),
                ),
                (
                    "value",
                    models.PositiveBigIntegerField(blank=True, help_text="Empty: without limit. 0: none.", null=True),
                ),
                ("reason", models.CharField(max_length=500)),
                (
                    "expires_at",
                    models.DateTimeField(
                        blank=True, help_text="From then on the plan's number holds again.", null=True
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False),
                ),
            ],
        ),
        migrations.AddField(
            model_name="override",
            name="account",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="overrides",
                to="accounts.account",
            ),
        ),
        migrations.AddField(
            model_name="override",
            name="created_by",
            field=models.ForeignKey(
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddConstraint(
            model_name="override",
            constraint=models.UniqueConstraint(fields=("account", "name"), name="override_once"),
        ),
        migrations.AddConstraint(
            model_name="override",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "name__in",
                        (
                            "monthly_runs",
                            "max_concurrency",
                            "max_queued",
                            "reads_per_minute",
                            "writes_per_minute",
                            "retention_days",
                            "limits.wall_time_ms.default",
                            "limits.wall_time_ms.ceiling",
                            "limits.cpu_time_ms.default",
                            "limits.cpu_time_ms.ceiling",
                            "limits.compile_time_ms.default",
                            "limits.compile_time_ms.ceiling",
                            "limits.memory_mb.default",
                            "limits.memory_mb.ceiling",
                            "limits.processes.default",
                            "limits.processes.ceiling",
                            "limits.output_bytes.default",
                            "limits.output_bytes.ceiling",
                            "limits.disk_mb.default",
                            "limits.disk_mb.ceiling",
                        ),
                    )
                ),
                name="override_name_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="override",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True), name="override_has_reason"
            ),
        ),
        migrations.AddConstraint(
            model_name="override",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("name__startswith", "limits."), _negated=True),
                    models.Q(("value__gte", 1), ("value__isnull", False), ("value__lte", 1099511627776)),
                    _connector="OR",
                ),
                name="override_limits_are_bounded",
            ),
        ),
        migrations.RunPython(carry_over, migrations.RunPython.noop),
        migrations.RemoveConstraint(
            model_name="account",
            name="account_plan_known",
        ),
        migrations.RemoveField(
            model_name="account",
            name="max_concurrency",
        ),
        migrations.RemoveField(
            model_name="account",
            name="max_queued",
        ),
        migrations.RemoveField(
            model_name="account",
            name="monthly_runs",
        ),
        migrations.AlterField(
            model_name="account",
            name="plan",
            field=models.CharField(
                choices=[("beta", "Beta"), ("pro", "Pro"), ("scale", "Scale")], default="beta", max_length=20
            ),
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.CheckConstraint(
                condition=models.Q(("plan__in", ["beta", "pro", "scale"])), name="account_plan_known"
            ),
        ),
    ]
