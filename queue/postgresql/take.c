/* Taking: numbers in the row of this worker, past what others are claiming just now. */
#include "bide/policy.h"
#include "queue/postgresql/deliver.h"
#include "queue/postgresql/put.h"
#include "queue/postgresql/session.h"
#include "queue/postgresql/workers.h"

/* Those that it took; with each, whether suspects wait. */
static const char take_sql[] =
    "SELECT " PGQ_COLUMNS("1", "nextval('bide_queue.token')")
    ", (SELECT bide_queue.suspects($1)) FROM bide_queue.take($1, $2, $3, $4, $5, "
    "$6, $7) AS m";
enum { SUSPECTS = PGQ_MORE };

/* Nothing could be taken: when to come again, and whether this worker was taken for
 * dead. */
static int look_ahead(struct pg_broker *q, struct broker_take *want, bool *gone)
{
    PGresult *r;

    pg_arg_text(pgq_args(q), q->b.queue);
    pg_arg_i64(&q->args, q->worker);
    int status = pgq_run(
        q, "SELECT suspects, next_us, gone FROM bide_queue.ahead($1, $2)", &r);
    if (status != 0)
        return status;
    *gone = pg_int(r, 0, 2) != 0;
    want->suspects = pg_int(r, 0, 0) != 0;
    int64_t next_us = pg_int(r, 0, 1);
    want->next_ns = PQgetisnull(r, 0, 1)        ? BIDE_FOREVER
                    : next_us > INT64_MAX / 1000 ? INT64_MAX
                                                 : next_us * 1000;
    PQclear(r);
    return 0;
}

static void give_up(struct queue_message **list, size_t n)
{
    while (n > 0)
        queue_message_free(list[--n]);
}

/* Without memory for one of them all go back: what is not in hand is freed with
 * the next beat. */
static int read_rows(struct pg_broker *q, const PGresult *r,
                     struct queue_message **ret, size_t *ret_n)
{
    struct hands *to = q->transaction == PGQ_OPEN ? &q->taken : &q->hands;
    size_t n = (size_t)PQntuples(r), before = to->n;

    for (size_t i = 0; i < n; i++) {
        ret[i] = pgq_message(r, (int)i);
        if (!ret[i] || hands_add(to, ret[i]->number) != 0) {
            give_up(ret, i + (ret[i] != NULL));
            to->n = before;
            q->doubt = true;
            return broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
        }
    }
    if (n > 0)
        pgq_heard_now(q, pgq_ms(r, 0, PGQ_NOW));
    *ret_n = n;
    return 0;
}

static int take(struct pg_broker *q, struct broker_take *want,
                struct queue_message **ret, bool *gone)
{
    PGresult *r;
    int status = pgq_enlist(q);

    if (status != 0)
        return status;
    struct pg_args *args = pgq_args(q);
    pg_arg_text(args, q->b.queue);
    pg_arg_i64(args, q->worker);
    pg_arg_i64(args, q->lease_us);
    pg_arg_i32(args, want->most > 100000 ? 100000 : (int32_t)want->most);
    pg_arg_i32(args, want->retries > 100000 ? 100000 : (int32_t)want->retries);
    pg_arg_bool(args, want->alone);
    pg_arg_i64(args, q->ageing_us);
    status = pgq_run(q, take_sql, &r);
    if (status != 0)
        return status;
    size_t n = 0;
    status = read_rows(q, r, ret, &n);
    bool suspects = status == 0 && n > 0 && pg_int(r, 0, SUSPECTS) != 0;
    PQclear(r);
    if (status != 0)
        return status;
    want->n = n;
    want->suspects = suspects;
    want->next_ns = 0;
    /* Where there was something there may be more: ask again at once, and save
     * the second question. */
    return n > 0 ? 0 : look_ahead(q, want, gone);
}

int pgq_take(struct broker *b, struct broker_take *want,
             struct queue_message **ret)
{
    struct pg_broker *q = (struct pg_broker *)b;
    bool gone = false;
    int status = take(q, want, ret, &gone);

    if (status != 0 || !gone)
        return status;
    pgq_start_over(q);
    return take(q, want, ret, &gone);
}
