/* What loses messages in PostgreSQL, and what slows it down. */
#include "queue/postgresql/check.h"

#include <stdio.h>
#include <string.h>

#include "queue/postgresql/session.h"

/* A row is a finding: 2 loses, 1 wastes; what was found; what to change. */
static const char check_sql[] =
    "SELECT 2, 'fsync is off: a crash of the machine loses messages that were "
    "confirmed', 'fsync = on' WHERE current_setting('fsync') = 'off' "
    "UNION ALL SELECT 2, 'full_page_writes is off: a crash of the machine can "
    "damage the queue', 'full_page_writes = on' WHERE "
    "current_setting('full_page_writes') = 'off' "
    "UNION ALL SELECT 2, 'the table ' || c.oid::regclass || ' is unlogged: a "
    "crash of the server empties it', 'ALTER TABLE ' || c.oid::regclass || "
    "' SET LOGGED' FROM pg_class c WHERE c.relnamespace = "
    "'bide_queue'::regnamespace AND c.relkind = 'r' AND c.relpersistence = 'u' "
    "UNION ALL SELECT 2, 'the trigger ' || t.tgname || ' is disabled: messages "
    "with a key would run out of order', 'ALTER TABLE bide_queue.message ENABLE "
    "TRIGGER ' || t.tgname FROM pg_trigger t WHERE t.tgrelid = "
    "'bide_queue.message'::regclass AND t.tgname = 'hold' AND t.tgenabled = 'D' "
    "UNION ALL SELECT 1, 'autovacuum is off: every take reads past messages that "
    "are gone', 'autovacuum = on' WHERE current_setting('autovacuum') = 'off' "
    "UNION ALL SELECT 1, 'a transaction of ' || a.usename || ' (process ' || a.pid "
    "|| ') is open for ' || date_trunc('second', now() - a.xact_start) || ': rows "
    "of messages that are done stay until it ends', "
    "'idle_in_transaction_session_timeout' FROM pg_stat_activity a WHERE a.xact_start "
    "< now() - interval '1 hour' AND a.datname = current_database() AND a.usename "
    "IS NOT NULL";

int pgq_check(struct broker *b, const struct broker_plan *plan,
              broker_finding *fn, void *arg)
{
    struct pg_broker *q = (struct pg_broker *)b;
    PGresult *r;
    int status = pgq_ready(q);

    (void)plan; /* leases are renewed by beats, and nothing here expires */
    if (status != 0)
        return status;
    pgq_args(q);
    status = pgq_run_long(q, check_sql, &r);
    if (status != 0)
        return status;
    for (int i = 0; i < PQntuples(r); i++)
        fn(arg, pg_int(r, i, 0) == 2 ? BROKER_LOSS : BROKER_WASTE,
           PQgetvalue(r, i, 1), PQgetvalue(r, i, 2));
    PQclear(r);
    return 0;
}
