/* How many there are, of what, and which queues. */
#include <stdio.h>

#include "bide/policy.h"
#include "queue/postgresql/look.h"
#include "queue/postgresql/session.h"

/* By the two indexes that have no dead ones; the oldest is the least of `due`. */
static const char counts_sql[] =
    "WITH held AS MATERIALIZED (SELECT unnest(w.held) AS number FROM "
    "bide_queue.worker w WHERE w.queue = $1), "
    "ready AS (SELECT count(*) FILTER (WHERE m.due <= now()) AS waiting, "
    "count(*) FILTER (WHERE m.due > now()) AS later, "
    "min(m.due) FILTER (WHERE m.due <= now()) AS oldest, "
    "min(m.due) FILTER (WHERE m.due > now()) AS next FROM bide_queue.message m "
    "WHERE m.queue = $1 AND m.state = 0 AND m.number NOT IN (SELECT number FROM "
    "held)), "
    "behind AS (SELECT count(*) AS n, min(m.due) FILTER (WHERE m.due <= now()) AS "
    "oldest FROM bide_queue.message m WHERE m.queue = $1 AND m.key <> '' AND m.state "
    "<> 2 AND m.state = 3) "
    "SELECT ready.waiting, behind.n, ready.later, (SELECT count(*) FROM held h JOIN "
    "bide_queue.message m ON m.number = h.number), coalesce(extract(epoch FROM now() "
    "- least(ready.oldest, behind.oldest)) * 1000000, 0)::bigint, (extract(epoch FROM "
    "ready.next - now()) * 1000000)::bigint, (SELECT count(*) FROM bide_queue.worker "
    "w WHERE w.queue = $1 AND w.lease_until >= now()) FROM ready, behind";

static const char dead_sql[] =
    "SELECT coalesce(reason, 'unknown'), count(*) FROM bide_queue.message WHERE "
    "queue = $1 AND state = 2 GROUP BY 1 ORDER BY 2 DESC, 1";

static int count_live(struct pg_broker *q, struct broker_counts *c)
{
    PGresult *r;

    pg_arg_text(pgq_args(q), q->b.queue);
    int status = pgq_run_long(q, counts_sql, &r);
    if (status != 0)
        return status;
    c->waiting = (uint64_t)pg_int(r, 0, 0);
    c->held = (uint64_t)pg_int(r, 0, 1);
    c->later = (uint64_t)pg_int(r, 0, 2);
    c->running = (uint64_t)pg_int(r, 0, 3);
    c->oldest_ns = pg_int(r, 0, 4) * 1000;
    c->next_ns = PQgetisnull(r, 0, 5) ? BIDE_FOREVER : pg_int(r, 0, 5) * 1000;
    c->workers = (uint64_t)pg_int(r, 0, 6);
    PQclear(r);
    return 0;
}

static int count_dead(struct pg_broker *q, struct broker_counts *c)
{
    PGresult *r;

    pg_arg_text(pgq_args(q), q->b.queue);
    int status = pgq_run_long(q, dead_sql, &r);
    if (status != 0)
        return status;
    for (int i = 0; i < PQntuples(r); i++) {
        c->dead += (uint64_t)pg_int(r, i, 1);
        if (i >= BROKER_REASONS)
            continue;
        snprintf(c->dead_by[i].reason, sizeof c->dead_by[i].reason, "%s",
                 PQgetvalue(r, i, 0));
        c->dead_by[i].n = (uint64_t)pg_int(r, i, 1);
    }
    PQclear(r);
    return 0;
}

int pgq_counts(struct broker *b, struct broker_counts *ret)
{
    struct pg_broker *q = (struct pg_broker *)b;
    struct broker_counts c = { .waiting = 0 };
    int status = pgq_ready(q);

    if (status == 0)
        status = count_live(q, &c);
    if (status == 0)
        status = count_dead(q, &c);
    if (status == 0)
        *ret = c;
    return status;
}

int pgq_names(struct broker *b, void (*fn)(void *arg, const char *name),
              void *arg)
{
    struct pg_broker *q = (struct pg_broker *)b;
    PGresult *r;

    pgq_args(q);
    int status = pgq_run_long(
        q,
        "SELECT name FROM bide_queue.queue UNION SELECT queue "
        "FROM bide_queue.message ORDER BY 1",
        &r);
    if (status != 0)
        return status;
    for (int i = 0; i < PQntuples(r); i++)
        fn(arg, PQgetvalue(r, i, 0));
    PQclear(r);
    return 0;
}

int pgq_queues(struct broker *b, void (*fn)(void *arg, const char *name),
               void *arg)
{
    int status = pgq_ready((struct pg_broker *)b);

    return status == 0 ? pgq_names(b, fn, arg) : status;
}
