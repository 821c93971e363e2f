/* Listing a queue by pages, and making live messages of dead ones. */
#include "queue/postgresql/look.h"

#include <string.h>

#include "queue/postgresql/put.h"
#include "queue/postgresql/session.h"

enum { PAGE = 100 };

/* Rows of a queue. $3, $4: an id, and whether one that begins like this is meant.
 * $5, $6: when. $7: how many. */
#define COLUMNS                                                                \
    PGQ_COLUMNS("m.runs::int", "0::bigint")                                    \
    ", CASE WHEN m.runs THEN 1 ELSE m.state END, m.due > now(), "              \
    "coalesce(m.reason, ''), coalesce(m.class, ''), coalesce(m.tail, ''), m.died"
#define CHOSEN                                                                 \
    "($3 = '' OR m.id = $3 OR ($4 AND starts_with(m.id, $3))) AND "            \
    "(extract(epoch FROM coalesce(m.died, m.queued)) * 1000)::bigint >= $5 AND " \
    "(extract(epoch FROM coalesce(m.died, m.queued)) * 1000)::bigint < $6 "

/* The dead ones behind a number. $8: a reason. */
static const char dead_sql[] =
    "SELECT " COLUMNS ", 0, 0, 0::bigint FROM (SELECT *, false AS runs FROM "
    "bide_queue.message) AS m WHERE m.queue = $1 AND m.number > $2 AND m.state = 2 "
    "AND ($8 = '' OR m.reason = $8) AND " CHOSEN "ORDER BY m.number LIMIT $7";

/* The live ones, in the order of their turns: what runs, what is due, what is due
 * later. $8, $9, $10 and $2: behind this turn. */
static const char live_sql[] =
    "SELECT " COLUMNS ", m.stage, m.below, m.due_us FROM (SELECT r.*, "
    "CASE WHEN runs THEN 0 WHEN due <= now() THEN 1 ELSE 2 END AS stage, "
    "CASE WHEN runs OR due <= now() THEN -priority ELSE 0 END AS below, "
    "(extract(epoch FROM due) * 1000000)::bigint AS due_us "
    "FROM (SELECT *, number IN (SELECT unnest(w.held) FROM bide_queue.worker w "
    "WHERE w.queue = $1) AS runs FROM bide_queue.message) AS r WHERE r.queue = $1 "
    "AND r.state <> 2) AS m WHERE (m.stage, m.below, m.due_us, m.number) > "
    "($8, $9, $10, $2) AND " CHOSEN
    "ORDER BY m.stage, m.below, m.due_us, m.number LIMIT $7";

/* Where a page begins: behind this one. */
struct turn {
    int64_t number, stage, below, due_us;
};

enum {
    STATE = PGQ_MORE,
    LATER,
    REASON,
    CLASS,
    TAIL,
    DIED,
    STAGE,
    BELOW,
    DUE_US
};

static enum broker_state state_of(const PGresult *r, int row)
{
    switch (pg_int(r, row, STATE)) {
    case 1:
        return BROKER_IS_RUNNING;
    case 2:
        return BROKER_IS_DEAD;
    default:
        break;
    }
    if (pg_int(r, row, LATER))
        return BROKER_IS_LATER;
    return pg_int(r, row, STATE) == 3 ? BROKER_IS_HELD : BROKER_IS_WAITING;
}

static int page(struct pg_broker *q, const struct broker_filter *f,
                const struct turn *behind, bool begins, size_t most,
                PGresult **ret)
{
    struct pg_args *args = pgq_args(q);

    pg_arg_text(args, q->b.queue);
    pg_arg_i64(args, behind->number);
    pg_arg_text(args, f->id ? f->id : "");
    pg_arg_bool(args, begins);
    pg_arg_i64(args, f->since_ms);
    pg_arg_i64(args, f->until_ms ? f->until_ms : INT64_MAX);
    pg_arg_i64(args, (int64_t)most);
    if (f->dead) {
        pg_arg_text(args, f->reason ? f->reason : "");
        return pgq_run_long(q, dead_sql, ret);
    }
    pg_arg_i64(args, behind->stage);
    pg_arg_i64(args, behind->below);
    pg_arg_i64(args, behind->due_us);
    return pgq_run_long(q, live_sql, ret);
}

/* 1: enough. */
static int tell(struct pg_broker *q, const PGresult *r, int row, broker_each *fn,
                void *arg)
{
    struct queue_message *m = pgq_message(r, row);

    if (!m)
        return broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    bool more = fn(arg, &(struct broker_row){
                            .message = m,
                            .state = state_of(r, row),
                            .now_ms = pgq_ms(r, row, PGQ_NOW),
                            .reason = PQgetvalue(r, row, REASON),
                            .cls = PQgetvalue(r, row, CLASS),
                            .tail = PQgetvalue(r, row, TAIL),
                            .tail_len = (size_t)PQgetlength(r, row, TAIL),
                            .died_ms = pgq_ms(r, row, DIED) });
    queue_message_free(m);
    return more ? 0 : 1;
}

static struct turn turn_of(const PGresult *r, int row)
{
    return (struct turn){ .number = pg_int(r, row, PGQ_NUMBER),
                          .stage = pg_int(r, row, STAGE),
                          .below = pg_int(r, row, BELOW),
                          .due_us = pg_int(r, row, DUE_US) };
}

/* Page by page; *ret_told: how many. */
static int pages(struct pg_broker *q, const struct broker_filter *f, bool begins,
                 broker_each *fn, void *arg, size_t *ret_told)
{
    size_t left = f->most ? f->most : SIZE_MAX;
    struct turn behind = { .stage = -1 };
    int status = 0;

    while (status == 0 && left > 0) {
        PGresult *r;
        size_t most = left < PAGE ? left : PAGE;
        status = page(q, f, &behind, begins, most, &r);
        if (status != 0)
            break;
        int rows = PQntuples(r);
        for (int i = 0; i < rows && status == 0; i++)
            status = tell(q, r, i, fn, arg);
        if (rows > 0)
            behind = turn_of(r, rows - 1);
        PQclear(r);
        *ret_told += (size_t)rows;
        if (rows < (int)most)
            break;
        left -= (size_t)rows;
    }
    return status;
}

int pgq_each(struct broker *b, const struct broker_filter *f, broker_each *fn,
             void *arg)
{
    struct pg_broker *q = (struct pg_broker *)b;
    size_t told = 0;
    int status = pgq_ready(q);

    if (status == 0)
        status = pages(q, f, false, fn, arg, &told);
    if (status == 0 && told == 0 && f->id && *f->id)
        status = pages(q, f, true, fn, arg, &told);
    return status < 0 ? status : 0;
}

int pgq_redrive(struct broker *b, const char *const *ids, size_t n,
                bool fresh_key, size_t *ret_n)
{
    struct pg_broker *q = (struct pg_broker *)b;
    PGresult *r;
    int status = pgq_ready(q);

    if (status != 0)
        return status;
    struct pg_args *args = pgq_args(q);
    pg_arg_text(args, b->queue);
    pg_array_begin(args, PG_TEXT, n);
    for (size_t i = 0; i < n; i++)
        pg_element_bytes(args, ids[i], strlen(ids[i]));
    pg_arg_end(args);
    pg_arg_bool(args, fresh_key);
    status = pgq_run(q, "SELECT bide_queue.redrive($1, $2, $3)", &r);
    if (status != 0)
        return status;
    *ret_n = (size_t)pg_int(r, 0, 0);
    PQclear(r);
    return 0;
}
