/* What workers held whose lease has ended. Three steps: look, decide by
 * queue/blame.h, and change it if it is still so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/blame.h"
#include "queue/postgresql/session.h"
#include "queue/postgresql/workers.h"

/* Of others. By worker, so that a worker's rows stand together. */
static const char look_sql[] =
    "SELECT w.worker, m.number, m.deaths, m.attempt, m.key, m.errors FROM (SELECT "
    "worker, held FROM bide_queue.worker WHERE queue = $1 AND lease_until < now() "
    "AND worker <> $2 ORDER BY worker LIMIT 16) AS w LEFT JOIN bide_queue.message m "
    "ON m.number = ANY (w.held) ORDER BY w.worker, m.number";
enum { WORKER, NUMBER, DEATHS, ATTEMPT, KEY, ERRORS };

static const char rescue_sql[] =
    "SELECT bide_queue.rescue($1, $2, $3, $4, $5, $6, $7, $8)";

/* The rows [from, to) of one worker; a worker that held nothing has one, without
 * a message. */
struct estate {
    const PGresult *r;
    int from, to;
    size_t n;
};

static void put_numbers(struct pg_args *args, const struct estate *e)
{
    pg_array_begin(args, PG_INT8, e->n);
    for (int row = e->from; row < e->from + (int)e->n; row++)
        pg_element_i64(args, pg_int(e->r, row, NUMBER));
    pg_arg_end(args);
}

static void put_keys(struct pg_args *args, const struct estate *e)
{
    pg_array_begin(args, PG_TEXT, e->n);
    for (int row = e->from; row < e->from + (int)e->n; row++)
        pg_element_bytes(args, PQgetvalue(e->r, row, KEY),
                         (size_t)PQgetlength(e->r, row, KEY));
    pg_arg_end(args);
}

static struct queue_blame blame(const struct pg_broker *q,
                                const struct estate *e, int row)
{
    return queue_blame(e->n, (uint32_t)pg_int(e->r, row, DEATHS),
                       q->max_deaths);
}

static size_t put_blame(struct pg_broker *q, const struct estate *e)
{
    size_t dead = 0;

    pg_array_begin(&q->args, PG_INT4, e->n);
    for (int row = e->from; row < e->from + (int)e->n; row++)
        pg_element_i32(&q->args, (int32_t)blame(q, e, row).deaths);
    pg_arg_end(&q->args);
    pg_array_begin(&q->args, PG_BOOL, e->n);
    for (int row = e->from; row < e->from + (int)e->n; row++)
        pg_element_bool(&q->args, blame(q, e, row).suspect);
    pg_arg_end(&q->args);
    pg_array_begin(&q->args, PG_BOOL, e->n);
    for (int row = e->from; row < e->from + (int)e->n; row++) {
        pg_element_bool(&q->args, blame(q, e, row).dead);
        dead += blame(q, e, row).dead;
    }
    pg_arg_end(&q->args);
    return dead;
}

static void put_errors(struct pg_broker *q, const struct estate *e)
{
    char errors[QUEUE_ERRORS_MAX + 1], text[64];

    pg_array_begin(&q->args, PG_TEXT, e->n);
    for (int row = e->from; row < e->from + (int)e->n; row++) {
        const char *before = PQgetvalue(e->r, row, ERRORS);
        struct queue_blame b = blame(q, e, row);
        if (b.dead) {
            snprintf(text, sizeof text, "its worker died (death %u)",
                     b.deaths);
            queue_errors_add(errors, before, pgq_now_ms(q),
                             (uint32_t)pg_int(e->r, row, ATTEMPT) + 1, text);
            before = errors;
        }
        pg_element_bytes(&q->args, before, strlen(before));
    }
    pg_arg_end(&q->args);
}

static int free_estate(struct pg_broker *q, const struct estate *e,
                       struct broker_rescued *ret)
{
    struct pg_args *args = pgq_args(q);
    PGresult *r;

    pg_arg_text(args, q->b.queue);
    pg_arg_i64(args, pg_int(e->r, e->from, WORKER));
    put_numbers(args, e);
    put_keys(args, e);
    size_t dead = put_blame(q, e);
    put_errors(q, e);
    int status = pgq_run(q, rescue_sql, &r);
    if (status != 0)
        return status;
    int64_t n = pg_int(r, 0, 0);
    PQclear(r);
    if (n >= 0) { /* otherwise it lives again, or somebody else was faster */
        ret->workers++;
        ret->messages += (size_t)n;
        ret->dead += dead;
    }
    return 0;
}

int pgq_rescue(struct broker *b, struct broker_rescued *ret)
{
    struct pg_broker *q = (struct pg_broker *)b;
    struct broker_rescued sum = { 0, 0, 0 };
    PGresult *r;
    int status = pgq_ready(q);

    if (status != 0)
        return status;
    pg_arg_text(pgq_args(q), b->queue);
    pg_arg_i64(&q->args, q->worker); /* who asks is alive */
    status = pgq_run(q, look_sql, &r);
    if (status != 0)
        return status;
    int rows = PQntuples(r);
    for (int from = 0, to; from < rows && status == 0; from = to) {
        for (to = from + 1;
             to < rows && pg_int(r, to, WORKER) == pg_int(r, from, WORKER);)
            to++;
        struct estate e = { r, from, to,
                            PQgetisnull(r, from, NUMBER) ? 0
                                                         : (size_t)(to - from) };
        status = free_estate(q, &e, &sum);
    }
    PQclear(r);
    if (status == 0)
        *ret = sum;
    return status;
}
