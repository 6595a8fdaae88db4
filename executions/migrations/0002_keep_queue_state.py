"""Counts the unfinished executions of each account as they come and go, in the transaction that moves them.

Counting a queue of 100,000 rows for each row that is added makes a long queue ever slower. Triggers, because they cannot
be forgotten: whoever changes rows, by whatever statement, changes the counts with them or not at all.

They fire once a statement and not once a row: a row that is updated a thousand times in one transaction has a thousand
versions, and each update walks past all of them. Each account that a statement concerns costs one UPDATE of its row in
`executions_queuestate`, in the order of the accounts, so that two such statements cannot wait for each other. That
UPDATE also puts the transactions that add work and those that free slots in an order: see `executions.dispatch.admit`.
"""

from django.db import migrations

FORWARD = """
CREATE OR REPLACE FUNCTION executions_add_to_queue_state(of_account bigint, more_waiting integer, more_admitted integer)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE executions_queuestate
       SET waiting = waiting + more_waiting, admitted = admitted + more_admitted
     WHERE account_id = of_account;
    IF NOT FOUND THEN
        INSERT INTO executions_queuestate AS state (account_id, waiting, admitted)
        VALUES (of_account, more_waiting, more_admitted)
        ON CONFLICT (account_id) DO UPDATE
           SET waiting = state.waiting + excluded.waiting, admitted = state.admitted + excluded.admitted;
    END IF;
END $$;

CREATE OR REPLACE FUNCTION executions_keep_queue_state() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    change record;
BEGIN
    IF TG_OP = 'INSERT' THEN
        FOR change IN
            SELECT account_id, count(*) FILTER (WHERE admitted_at IS NULL) AS waiting, count(admitted_at) AS admitted
              FROM added WHERE status IN ('QUEUED', 'RUNNING') GROUP BY account_id ORDER BY account_id
        LOOP
            PERFORM executions_add_to_queue_state(change.account_id, change.waiting::integer, change.admitted::integer);
        END LOOP;
    ELSIF TG_OP = 'DELETE' THEN
        FOR change IN
            SELECT account_id, count(*) FILTER (WHERE admitted_at IS NULL) AS waiting, count(admitted_at) AS admitted
              FROM removed WHERE status IN ('QUEUED', 'RUNNING') GROUP BY account_id ORDER BY account_id
        LOOP
            PERFORM executions_add_to_queue_state(change.account_id, -change.waiting::integer, -change.admitted::integer);
        END LOOP;
    ELSE
        FOR change IN
            SELECT account_id, sum(waiting) AS waiting, sum(admitted) AS admitted
              FROM (
                SELECT account_id, (admitted_at IS NULL)::integer AS waiting, (admitted_at IS NOT NULL)::integer AS admitted
                  FROM added WHERE status IN ('QUEUED', 'RUNNING')
                 UNION ALL
                SELECT account_id, -(admitted_at IS NULL)::integer, -(admitted_at IS NOT NULL)::integer
                  FROM removed WHERE status IN ('QUEUED', 'RUNNING')
              ) AS moved
             GROUP BY account_id HAVING sum(waiting) <> 0 OR sum(admitted) <> 0 ORDER BY account_id
        LOOP
            PERFORM executions_add_to_queue_state(change.account_id, change.waiting::integer, change.admitted::integer);
        END LOOP;
    END IF;
    RETURN NULL;
END $$;

DROP TRIGGER IF EXISTS executions_count_unfinished ON executions_execution;
DROP FUNCTION IF EXISTS executions_count_unfinished();

CREATE TRIGGER executions_added AFTER INSERT ON executions_execution
    REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION executions_keep_queue_state();
CREATE TRIGGER executions_moved AFTER UPDATE ON executions_execution
    REFERENCING OLD TABLE AS removed NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION executions_keep_queue_state();
CREATE TRIGGER executions_removed AFTER DELETE ON executions_execution
    REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION executions_keep_queue_state();
"""

BACKWARD = """
DROP TRIGGER executions_added ON executions_execution;
DROP TRIGGER executions_moved ON executions_execution;
DROP TRIGGER executions_removed ON executions_execution;
DROP FUNCTION executions_keep_queue_state();
DROP FUNCTION executions_add_to_queue_state(bigint, integer, integer);
"""


class Migration(migrations.Migration):
    dependencies = [("executions", "0001_initial")]

    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
