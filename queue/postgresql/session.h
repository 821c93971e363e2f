/* queue/postgresql/session.h: a queue in PostgreSQL, and its connection.
 *
 *     PGresult *r;
 *     int status = pgq_ready(q);
 *     if (status == 0) {
 *         pg_arg_text(pgq_args(q), q->b.queue);
 *         status = pgq_run(q, "SELECT ... WHERE queue = $1", &r);
 *     }
 *     if (status == 0)
 *         PQclear(r);
 *
 * Each verb of queue/broker.h is one statement, a function of schema.sql, and so
 * one round trip. Between begin() and commit() they are one transaction, with one
 * flush to the disk; otherwise each is its own. A claim is written down, and never
 * a lock: nothing is open in the server while a handler runs.
 *
 * A worker is a row with a lease that its beats renew, and the numbers of the
 * messages that it holds: one write claims or renews them all, and when it dies
 * the row says what ran side by side (queue/blame.h). Once a worker was taken for
 * dead it gets a row with another number. So its row and a message's number are
 * the fence: whoever holds both has the message. */
#ifndef BIDE_QUEUE_POSTGRESQL_SESSION_H
#define BIDE_QUEUE_POSTGRESQL_SESSION_H

#include <libpq-fe.h>

#include "queue/broker.h"
#include "queue/hands.h"
#include "store/postgresql/args.h"
#include "store/postgresql/pg.h"

/* Between begin() and commit(): open, or undone by a failure. */
enum pgq_transaction { PGQ_NONE, PGQ_OPEN, PGQ_UNDONE };

/* Threads: owned. */
struct pg_broker {
    struct broker b;
    struct pg *pg;
    struct pg_args args;
    int64_t lease_us, ageing_us;
    uint32_t max_deaths;
    bool create, consume;
    enum pgq_transaction transaction;
    bool doubt;          /* an answer was lost: hands and server may differ */
    uint64_t known;      /* the connection on which schema and queue were found */
    int64_t worker;      /* its row; 0: none yet */
    uint64_t since;      /* the tokens of what that row holds are above this */
    struct hands hands;  /* numbers of messages, of that row */
    struct hands taken;  /* in this transaction: in hand once it commits, */
    struct hands settled; /* and out of hand once it commits */
    int64_t ahead_ms;    /* of the server's clock before the monotonic one */
};

/* Connects if need be, and finds or makes schema and queue. 0 or a status. */
int pgq_ready(struct pg_broker *q);

/* Arguments for the next statement, empty. */
struct pg_args *pgq_args(struct pg_broker *q);

/* Runs a statement with q->args: 0 and *ret, to be cleared, or a status. The
 * second is for statements that may read the whole queue. */
int pgq_run(struct pg_broker *q, const char *sql, PGresult **ret);
int pgq_run_long(struct pg_broker *q, const char *sql, PGresult **ret);

/* begin() and commit() of the broker. */
int pgq_begin(struct broker *b);
int pgq_commit(struct broker *b);

/* A delivery that is settled, or somebody else's: out of hand, in a transaction
 * once that commits. */
void pgq_let_go(struct pg_broker *q, const struct queue_message *m);

/* Whether it was taken with an earlier row of this worker: then it is somebody
 * else's. */
static inline bool pgq_is_past(const struct pg_broker *q,
                               const struct queue_message *m)
{
    return m->token <= q->since;
}

/* The clock of the server, and what it said about it. */
int64_t pgq_now_ms(const struct pg_broker *q);
void pgq_heard_now(struct pg_broker *q, int64_t now_ms);

#endif
