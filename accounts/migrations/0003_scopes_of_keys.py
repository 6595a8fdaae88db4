import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
from django.db import migrations, models

SCOPES = [
    "executions:read",
    "executions:write",
    "evaluations:read",
    "evaluations:write",
    "usage:read",
    "webhooks:read",
    "webhooks:write",
]


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_plans_and_overrides")]

    operations = [
        migrations.AddField(
            model_name="apikey",
            name="last_used_address",
            field=models.GenericIPAddressField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="apikey",
            name="scopes",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=40),
                default=list(SCOPES),
                help_text="What it may do: see `accounts.scopes`.",
                size=None,
            ),
            preserve_default=False,
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "scopes__contained_by",
                        [
                            "executions:read",
                            "executions:write",
                            "evaluations:read",
                            "evaluations:write",
                            "usage:read",
                            "webhooks:read",
                            "webhooks:write",
                        ],
                    )
                ),
                name="apikey_scopes_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(("scopes__len__gte", 1)), name="apikey_may_do_something"
            ),
        ),
    ]
