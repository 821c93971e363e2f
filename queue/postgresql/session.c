/* Connecting, finding or making the schema, and what errors mean. */
#include "queue/postgresql/session.h"

#include <stdio.h>
#include <string.h>

#include "bide/run.h"
#include "queue/missing.h"
#include "queue/postgresql/look.h"
#include "queue/postgresql/schema.h"

#define S INT64_C(1000000000)

/* Shorter than the 10 s in which a worker must be back: a server that hangs is
 * left, and the next try may find another one at its address. */
#define PATIENCE_NS (5 * S)
#define LONG_PATIENCE_NS (60 * S)

enum { SCHEMA_VERSION = 2 };

/* ===== what errors mean ===== */

static const struct {
    const char *state; /* how its SQLSTATE begins */
    int status;
} meanings[] = {
    { "08", BROKER_DOWN },      /* connection */
    { "25006", BROKER_DOWN },   /* read only: a standby, until it is promoted */
    { "40", BROKER_DOWN },      /* deadlock, serialization: try again */
    { "53100", BROKER_FULL },   /* disk full */
    { "53", BROKER_DOWN },      /* too many connections, no memory */
    { "54000", BROKER_REFUSED },
    { "55", BROKER_DOWN },      /* in use */
    { "57", BROKER_DOWN },      /* shut down, cancelled */
    { "58", BROKER_DOWN },      /* I/O */
    { "XX001", BROKER_CORRUPT },
    { "XX002", BROKER_CORRUPT },
};

static int meaning_of(const char *state)
{
    if (!*state)
        return BROKER_DOWN; /* it never answered */
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (strncmp(state, meanings[i].state, strlen(meanings[i].state)) == 0)
            return meanings[i].status;
    return BROKER_REFUSED;
}

/* A transaction ends with its first failure, and what follows until its commit()
 * fails as well: were it run by itself, it would be kept without the rest. */
static void end_transaction(struct pg_broker *q)
{
    if (q->transaction != PGQ_OPEN)
        return;
    q->transaction = PGQ_UNDONE;
    if (!pg_is_connected(q->pg))
        return;
    PGresult *r = pg_script(q->pg, "ROLLBACK", bide_now_ns() + PATIENCE_NS);
    if (!r || !pg_is_ok(r))
        pg_close(q->pg);
    PQclear(r);
}

/* Says why, and leaves nothing open. */
static int failed(struct pg_broker *q)
{
    const char *state = pg_state(q->pg);

    if (!pg_is_connected(q->pg))
        q->doubt = true;
    int status = meaning_of(state);
    if (strcmp(state, "42501") == 0) /* no right to do that */
        broker_fail(&q->b, status,
                    "postgresql: %s (GRANT CREATE ON DATABASE \"%s\" TO "
                    "\"%s\", or all on schema bide_queue)",
                    pg_why(q->pg), pg_database(q->pg), pg_user(q->pg));
    else
        broker_fail(&q->b, status, "postgresql: %s", pg_why(q->pg));
    end_transaction(q);
    return status;
}

/* ===== statements ===== */

struct pg_args *pgq_args(struct pg_broker *q)
{
    pg_args_clear(&q->args);
    return &q->args;
}

static int run(struct pg_broker *q, const char *sql, int64_t patience_ns,
               PGresult **ret)
{
    if (!pg_is_connected(q->pg))
        return broker_fail(&q->b, BROKER_DOWN, "postgresql: not connected");
    PGresult *r = pg_run(q->pg, sql, &q->args, bide_now_ns() + patience_ns);
    if (r && pg_is_ok(r)) {
        *ret = r;
        return 0;
    }
    PQclear(r);
    return failed(q);
}

int pgq_run(struct pg_broker *q, const char *sql, PGresult **ret)
{
    return run(q, sql, PATIENCE_NS, ret);
}

int pgq_run_long(struct pg_broker *q, const char *sql, PGresult **ret)
{
    return run(q, sql, LONG_PATIENCE_NS, ret);
}

static int script(struct pg_broker *q, const char *sql)
{
    PGresult *r = pg_script(q->pg, sql, bide_now_ns() + PATIENCE_NS);
    bool ok = r && pg_is_ok(r);

    PQclear(r);
    return ok ? 0 : failed(q);
}

/* ===== transactions ===== */

int pgq_begin(struct broker *b)
{
    struct pg_broker *q = (struct pg_broker *)b;

    end_transaction(q);
    q->transaction = PGQ_NONE;
    q->taken.n = q->settled.n = 0;
    int status = pgq_ready(q);
    if (status == 0)
        status = script(q, "BEGIN");
    if (status == 0)
        q->transaction = PGQ_OPEN;
    return status;
}

void pgq_let_go(struct pg_broker *q, const struct queue_message *m)
{
    if (pgq_is_past(q, m))
        return;
    /* Without memory it stays in hand, where it does no harm. */
    if (q->transaction == PGQ_OPEN)
        (void)hands_add(&q->settled, m->number);
    else
        hands_drop(&q->hands, m->number);
}

/* What was taken in a transaction is in hand once it is durable. Otherwise
 * nobody has it: should the commit have happened after all, the server frees it
 * with the next beat. */
int pgq_commit(struct broker *b)
{
    struct pg_broker *q = (struct pg_broker *)b;
    bool open = q->transaction == PGQ_OPEN;

    q->transaction = PGQ_NONE;
    if (!open || !pg_is_connected(q->pg))
        return broker_fail(b, BROKER_DOWN, "postgresql: rolled back");
    PGresult *r = pg_script(q->pg, "COMMIT", bide_now_ns() + PATIENCE_NS);
    bool ok = r && pg_is_ok(r);
    /* The server answers ROLLBACK where a statement had failed. */
    bool kept = ok && strcmp(PQcmdStatus(r), "COMMIT") == 0;
    PQclear(r);
    if (!ok)
        return failed(q);
    if (!kept)
        return broker_fail(b, BROKER_DOWN, "postgresql: rolled back");
    for (size_t i = 0; i < q->settled.n; i++)
        hands_drop(&q->hands, q->settled.tokens[i]);
    for (size_t i = 0; i < q->taken.n; i++)
        if (hands_add(&q->hands, q->taken.tokens[i]) != 0)
            return broker_fail(b, BROKER_NO_MEMORY, "out of memory");
    return 0;
}

/* ===== schema and queue ===== */

/* The version that is there; 0: none. */
static int version_of(struct pg_broker *q, int *ret)
{
    PGresult *r;

    pgq_args(q);
    int status = pgq_run(q, "SELECT version FROM bide_queue.about", &r);
    if (status == 0) {
        *ret = PQntuples(r) > 0 ? (int)pg_int(r, 0, 0) : 0;
        PQclear(r);
        return 0;
    }
    *ret = 0;
    const char *state = pg_state(q->pg);
    return strcmp(state, "42P01") == 0 || strcmp(state, "3F000") == 0 ? 0
                                                                      : status;
}

static int find_schema(struct pg_broker *q)
{
    int version;
    int status = version_of(q, &version);

    if (status != 0 || version == SCHEMA_VERSION)
        return status;
    if (version > SCHEMA_VERSION)
        return broker_fail(&q->b, BROKER_REFUSED,
                           "postgresql: the schema bide_queue has version %d, "
                           "and this bide knows %d: a newer one made it",
                           version, SCHEMA_VERSION);
    if (!q->create && version == 0)
        return broker_fail(&q->b, BROKER_REFUSED,
                           "postgresql: the database `%s` has no queue",
                           pg_database(q->pg));
    return script(q, pgq_schema);
}

static int find_queue(struct pg_broker *q)
{
    PGresult *r;

    pg_arg_text(pgq_args(q), q->b.queue);
    int status = pgq_run(
        q,
        "SELECT EXISTS (SELECT FROM bide_queue.queue WHERE name = $1) OR EXISTS "
        "(SELECT FROM bide_queue.message WHERE queue = $1)",
        &r);
    if (status != 0)
        return status;
    bool there = pg_int(r, 0, 0) != 0;
    PQclear(r);
    if (there)
        return 0;
    if (!q->create)
        return queue_missing(&q->b, pgq_names,
                             "postgresql: there is no queue `%s`", q->b.queue);
    status = pgq_run(
        q, "INSERT INTO bide_queue.queue (name) VALUES ($1) ON CONFLICT DO NOTHING",
        &r);
    if (status == 0)
        PQclear(r);
    return status;
}

int pgq_ready(struct pg_broker *q)
{
    if (q->transaction == PGQ_UNDONE ||
        (q->transaction == PGQ_OPEN && !pg_is_connected(q->pg)))
        return broker_fail(&q->b, BROKER_DOWN, "postgresql: rolled back");
    if (pg_is_connected(q->pg) && pg_connection(q->pg) == q->known)
        return 0;
    if (pg_connect(q->pg, bide_now_ns() + PATIENCE_NS) != 0)
        return failed(q);
    int status = find_schema(q);
    if (status == 0)
        status = find_queue(q);
    if (status == 0 && q->consume)
        status = script(q, "LISTEN bide_queue");
    if (status == 0)
        q->known = pg_connection(q->pg);
    return status;
}

/* ===== the server's clock ===== */

int64_t pgq_now_ms(const struct pg_broker *q)
{
    return bide_now_ns() / 1000000 + q->ahead_ms;
}

void pgq_heard_now(struct pg_broker *q, int64_t now_ms)
{
    q->ahead_ms = now_ms - bide_now_ns() / 1000000;
}
