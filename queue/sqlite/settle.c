/* What becomes of a message that was taken. If it is no longer in our row, or was taken
 * under another one, nothing is changed, and the delivery is lost. */
#include <string.h>

#include "queue/sqlite/db.h"
#include "queue/sqlite/deliver.h"
#include "queue/sqlite/held.h"
#include "queue/sqlite/turn.h"
#include "queue/sqlite/workers.h"

/* The history with this error, in `to`; NULL: as it is. */
static const char *history(const struct sqlite_broker *s,
                           const struct broker_end *e, char *to)
{
    if (!e->error)
        return NULL;
    queue_errors_add(to, e->message->errors, s->now_ms,
                     e->message->attempt + e->counts, e->error);
    return to;
}

static int again(struct sqlite_broker *s, const struct broker_end *e)
{
    sqlite3_stmt *q = db_statement(s, SQL_AGAIN);
    char errors[QUEUE_ERRORS_MAX + 1];
    int64_t delay_ms = e->delay_ns > 0 ? (e->delay_ns + 999999) / 1000000 : 0;

    if (!q)
        return db_failed(s);
    sqlite3_bind_int64(q, 1, (int64_t)e->message->number);
    sqlite3_bind_int64(q, 2, delay_ms ? s->now_ms + delay_ms
                                      : e->message->due_ms);
    sqlite3_bind_int(q, 3, e->counts);
    sqlite3_bind_int(q, 4, e->ran);
    db_bind_text(q, 5, history(s, e, errors));
    return db_run(s, q);
}

static int bury(struct sqlite_broker *s, const struct broker_end *e)
{
    sqlite3_stmt *q = db_statement(s, SQL_BURY);
    char errors[QUEUE_ERRORS_MAX + 1];

    if (!q)
        return db_failed(s);
    sqlite3_bind_int64(q, 1, (int64_t)e->message->number);
    sqlite3_bind_int64(q, 2, s->now_ms);
    sqlite3_bind_int(q, 3, e->counts);
    db_bind_text(q, 4, e->reason);
    db_bind_text(q, 5, e->cls);
    if (e->tail_len)
        sqlite3_bind_blob64(q, 6, e->tail, e->tail_len, SQLITE_STATIC);
    else
        sqlite3_bind_null(q, 6);
    db_bind_text(q, 7, history(s, e, errors));
    sqlite3_bind_int64(q, 8, e->message->deaths);
    return db_run(s, q);
}

static int done(struct sqlite_broker *s, const struct broker_end *e)
{
    sqlite3_stmt *q = db_statement(s, SQL_DONE);

    if (!q)
        return db_failed(s);
    sqlite3_bind_int64(q, 1, (int64_t)e->message->number);
    return db_run(s, q);
}

static int settle_one(struct sqlite_broker *s, struct broker_end *e,
                      struct seqs *own)
{
    const struct queue_message *m = e->message;

    e->message->lost = !workers_is_ours(s, m->token) ||
                       !seqs_has(own, (int64_t)m->number);
    e->result = BROKER_LOST;
    if (m->lost)
        return 0;
    int status = e->how == BROKER_DONE    ? done(s, e)
                 : e->how == BROKER_AGAIN ? again(s, e)
                                          : bury(s, e);
    if (status != 0)
        return status;
    seqs_remove(own, (int64_t)m->number);
    e->result = sqlite3_changes(s->db) ? BROKER_SETTLED : BROKER_LOST;
    e->message->lost = e->result == BROKER_LOST;
    if (e->result == BROKER_SETTLED && e->how == BROKER_AGAIN)
        s->ring = true; /* another worker may be waiting for it */
    if (e->result == BROKER_LOST || e->how == BROKER_AGAIN || !*m->key)
        return 0;
    return turn_of_key(s, s->queue, m->key);
}

int rows_settle(struct broker *b, struct broker_end *ends, size_t n)
{
    struct sqlite_broker *s = (struct sqlite_broker *)b;
    struct seqs own = { 0 };
    int status = db_enter(s);

    if (status != 0)
        return status;
    status = held_of(s, s->worker, &own);
    size_t before = own.n;
    for (size_t i = 0; i < n && status == 0; i++)
        status = settle_one(s, &ends[i], &own);
    if (status == 0 && own.n < before)
        status = held_write(s, &own);
    seqs_done(&own);
    return db_leave(s, status);
}
