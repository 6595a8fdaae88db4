import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_scopes_of_keys")]

    operations = [
        migrations.CreateModel(
            name="BetaRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("email", models.EmailField(max_length=254)),
                ("organisation", models.CharField(blank=True, max_length=100)),
                ("purpose", models.TextField(help_text="What they want to evaluate.", max_length=2000)),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("approved", "Approved"), ("declined", "Declined")],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                (
                    "note",
                    models.CharField(blank=True, help_text="Why it was decided so. Only staff see it.", max_length=500),
                ),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("email", models.EmailField(max_length=254)),
                (
                    "role",
                    models.CharField(
                        choices=[("owner", "Owner"), ("member", "Member")], default="member", max_length=10
                    ),
                ),
                ("digest", models.BinaryField(max_length=32, unique=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False),
                ),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.AddField(
            model_name="betarequest",
            name="account",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="accounts.account",
            ),
        ),
        migrations.AddField(
            model_name="betarequest",
            name="decided_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="invitation",
            name="account",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="invitations", to="accounts.account"
            ),
        ),
        migrations.AddField(
            model_name="invitation",
            name="invited_by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddConstraint(
            model_name="betarequest",
            constraint=models.UniqueConstraint(
                django.db.models.functions.text.Lower("email"),
                condition=models.Q(("state", "waiting")),
                name="betarequest_waits_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="betarequest",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("decided_at", None), ("state", "waiting")),
                    models.Q(models.Q(("state", "waiting"), _negated=True), ("decided_at__isnull", False)),
                    _connector="OR",
                ),
                name="betarequest_decided_has_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.UniqueConstraint(
                models.F("account"),
                django.db.models.functions.text.Lower("email"),
                condition=models.Q(("accepted_at", None), ("withdrawn_at", None)),
                name="invitation_open_once",
            ),
        ),
    ]
