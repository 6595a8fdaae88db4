"""Counts the unfinished executions of each account as they come and go, in the transaction that moves them.

Counting a queue of 100,000 rows for each row that is added makes a long queue ever slower. A trigger, because it cannot
be forgotten: whoever changes a row, by whatever statement, changes the counts with it or not at all.

Each step is a single UPDATE of the account's row in `executions_queuestate`, which also puts the transactions that add
work and that free slots in an order: see `executions.dispatch.admit`.
"""

from django.db import migrations

FORWARD = """
CREATE FUNCTION executions_count_unfinished() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was_waiting integer := 0;
    was_admitted integer := 0;
    is_waiting integer := 0;
    is_admitted integer := 0;
    of_account bigint;
BEGIN
    IF TG_OP <> 'INSERT' THEN
        of_account := OLD.account_id;
        IF OLD.status IN ('QUEUED', 'RUNNING') THEN
            IF OLD.admitted_at IS NULL THEN was_waiting := 1; ELSE was_admitted := 1; END IF;
        END IF;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        of_account := NEW.account_id;
        IF NEW.status IN ('QUEUED', 'RUNNING') THEN
            IF NEW.admitted_at IS NULL THEN is_waiting := 1; ELSE is_admitted := 1; END IF;
        END IF;
    END IF;
    IF is_waiting = was_waiting AND is_admitted = was_admitted THEN
        RETURN NULL;
    END IF;
    UPDATE executions_queuestate
       SET waiting = waiting + is_waiting - was_waiting, admitted = admitted + is_admitted - was_admitted
     WHERE account_id = of_account;
    IF NOT FOUND THEN
        INSERT INTO executions_queuestate AS state (account_id, waiting, admitted)
        VALUES (of_account, is_waiting, is_admitted)
        ON CONFLICT (account_id) DO UPDATE
           SET waiting = state.waiting + excluded.waiting, admitted = state.admitted + excluded.admitted;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER executions_count_unfinished
    AFTER INSERT OR DELETE OR UPDATE OF status, admitted_at ON executions_execution
    FOR EACH ROW EXECUTE FUNCTION executions_count_unfinished();
"""

BACKWARD = """
DROP TRIGGER executions_count_unfinished ON executions_execution;
DROP FUNCTION executions_count_unfinished();
"""


class Migration(migrations.Migration):
    dependencies = [("executions", "0001_initial")]

    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
