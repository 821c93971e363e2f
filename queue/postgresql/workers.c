/* A worker's own row: it comes, beats and goes. */
#include "queue/postgresql/workers.h"

#include "queue/postgresql/put.h"
#include "queue/postgresql/session.h"

static void put_hands(struct pg_broker *q)
{
    size_t n = q->hands.n + (q->transaction == PGQ_OPEN ? q->taken.n : 0);

    pg_array_begin(&q->args, PG_INT8, n);
    for (size_t i = 0; i < n; i++)
        pg_element_i64(&q->args,
                       (int64_t)(i < q->hands.n
                                     ? q->hands.tokens[i]
                                     : q->taken.tokens[i - q->hands.n]));
    pg_arg_end(&q->args);
}

/* An answer was lost, perhaps that of a take. */
static int settle_doubt(struct pg_broker *q)
{
    PGresult *r;

    pg_arg_text(pgq_args(q), q->b.queue);
    pg_arg_i64(&q->args, q->worker);
    put_hands(q);
    int status = pgq_run(q, "SELECT bide_queue.disown($1, $2, $3)", &r);
    if (status != 0)
        return status;
    PQclear(r);
    q->doubt = false;
    return 0;
}

void pgq_start_over(struct pg_broker *q)
{
    q->worker = 0;
    q->hands.n = q->taken.n = q->settled.n = 0;
}

int pgq_enlist(struct pg_broker *q)
{
    PGresult *r;
    int status = pgq_ready(q);

    if (status != 0)
        return status;
    if (q->worker)
        return q->doubt ? settle_doubt(q) : 0;
    pg_arg_text(pgq_args(q), q->b.queue);
    pg_arg_i64(&q->args, q->lease_us);
    status = pgq_run(q,
                     "INSERT INTO bide_queue.worker (queue, lease_until) VALUES "
                     "($1, now() + $2 * interval '1 microsecond') RETURNING worker, "
                     "now(), nextval('bide_queue.token')",
                     &r);
    if (status != 0)
        return status;
    q->worker = pg_int(r, 0, 0);
    q->since = (uint64_t)pg_int(r, 0, 2);
    pgq_heard_now(q, pgq_ms(r, 0, 1));
    PQclear(r);
    q->doubt = false; /* whatever the last row had is rescued with it */
    return 0;
}

void pgq_leave(struct pg_broker *q)
{
    PGresult *r;

    if (!q->worker || !pg_is_connected(q->pg) || pgq_ready(q) != 0)
        return;
    pg_arg_text(pgq_args(q), q->b.queue);
    pg_arg_i64(&q->args, q->worker);
    if (pgq_run(q, "SELECT bide_queue.leave($1, $2)", &r) == 0)
        PQclear(r);
}

static void read_lost(struct pg_broker *q, const PGresult *r,
                      struct queue_message **running, size_t n)
{
    for (size_t i = 0; i < n; i++)
        running[i]->lost = running[i]->lost || pgq_is_past(q, running[i]);
    for (int row = 0; row < PQntuples(r); row++) {
        int64_t number = pg_int(r, row, 0);
        for (size_t i = 0; i < n; i++)
            if ((int64_t)running[i]->number == number) {
                running[i]->lost = true;
                pgq_let_go(q, running[i]);
            }
    }
}

int pgq_beat(struct broker *b, struct queue_message **running, size_t n)
{
    struct pg_broker *q = (struct pg_broker *)b;
    PGresult *r;
    int status = pgq_enlist(q);

    if (status != 0)
        return status;
    struct pg_args *args = pgq_args(q);
    pg_arg_i64(args, q->worker);
    pg_arg_i64(args, q->lease_us);
    pg_array_begin(args, PG_INT8, n);
    for (size_t i = 0; i < n; i++)
        pg_element_i64(args, (int64_t)running[i]->number);
    pg_arg_end(args);
    status = pgq_run(q, "SELECT * FROM bide_queue.beat($1, $2, $3)", &r);
    if (status != 0)
        return status;
    read_lost(q, r, running, n);
    PQclear(r);
    return 0;
}
