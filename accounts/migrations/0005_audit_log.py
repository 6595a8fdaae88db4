import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
from django.db import migrations, models

# Row by row, so that a restore of a dump (which inserts) works. Whoever owns the table can still drop the trigger: what
# this stops is the application, and whoever makes it do what it should not.
APPEND_ONLY = """
CREATE FUNCTION accounts_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'The audit log is append-only.' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER accounts_audit_is_append_only BEFORE UPDATE OR DELETE ON accounts_auditentry
    FOR EACH ROW EXECUTE FUNCTION accounts_audit_is_append_only();
"""
ANY_CHANGE = """
DROP TRIGGER accounts_audit_is_append_only ON accounts_auditentry;
DROP FUNCTION accounts_audit_is_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0004_beta_and_invitations")]

    operations = [
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ("actor_id", models.BigIntegerField(null=True)),
                ("actor_email", models.CharField(blank=True, help_text="Empty: the service itself.", max_length=254)),
                ("action", models.CharField(max_length=100)),
                ("subject_type", models.CharField(max_length=100)),
                ("subject_id", models.CharField(max_length=100)),
                ("subject_name", models.CharField(max_length=200)),
                ("before", models.JSONField(default=dict)),
                ("after", models.JSONField(default=dict)),
                ("reason", models.CharField(blank=True, max_length=500)),
            ],
            options={
                "verbose_name_plural": "audit entries",
            },
        ),
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(
                models.F("subject_type"), models.F("subject_id"), models.F("id"), name="audit_by_subject"
            ),
        ),
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(models.F("actor_id"), models.F("id"), name="audit_by_actor"),
        ),
        migrations.RunSQL(APPEND_ONLY, ANY_CHANGE),
    ]
