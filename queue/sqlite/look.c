/* Counting, listing and redriving. */
#include "queue/sqlite/look.h"

#include <stdio.h>
#include <string.h>

#include "bide/policy.h"
#include "queue/sqlite/clock.h"
#include "queue/sqlite/db.h"
#include "queue/sqlite/held.h"
#include "queue/sqlite/put.h"
#include "queue/sqlite/workers.h"

enum { MS = 1000 * 1000 };

/* ===== counts ===== */

static int count_held(struct sqlite_broker *s, int64_t now,
                      struct broker_counts *c, int64_t *oldest)
{
    sqlite3_stmt *q = db_statement(s, SQL_COUNT_STATES);

    if (!q)
        return db_failed(s);
    sqlite3_bind_int64(q, 1, s->queue);
    sqlite3_bind_int64(q, 2, now);
    if (sqlite3_step(q) != SQLITE_ROW) {
        sqlite3_reset(q);
        return db_failed(s);
    }
    c->held = (uint64_t)sqlite3_column_int64(q, 0);
    if (sqlite3_column_type(q, 1) != SQLITE_NULL)
        *oldest = sqlite3_column_int64(q, 1);
    c->later = (uint64_t)sqlite3_column_int64(q, 2);
    sqlite3_reset(q);
    return 0;
}

static int count_ready(struct sqlite_broker *s, int64_t now,
                       struct broker_counts *c)
{
    sqlite3_stmt *q = db_statement(s, SQL_COUNT_READY);

    if (!q)
        return db_failed(s);
    sqlite3_bind_int64(q, 1, s->queue);
    sqlite3_bind_int64(q, 2, now);
    if (sqlite3_step(q) != SQLITE_ROW) {
        sqlite3_reset(q);
        return db_failed(s);
    }
    c->waiting = (uint64_t)sqlite3_column_int64(q, 0);
    c->later += (uint64_t)sqlite3_column_int64(q, 1);
    c->next_ns = sqlite3_column_type(q, 2) == SQLITE_NULL
                     ? BIDE_FOREVER
                     : (sqlite3_column_int64(q, 2) - now) * MS;
    sqlite3_reset(q);
    return 0;
}

/* Of those that are ready, what runs is due as well: the oldest is the first that
 * does not. */
static int count_running(struct sqlite_broker *s, struct broker_counts *c,
                         int64_t *oldest)
{
    struct seqs busy = { 0 };
    bool known;
    int status = held_read(s, &busy, NULL, &known), rc = SQLITE_DONE;
    sqlite3_stmt *q = db_statement(s, SQL_OLDEST);

    if (status != 0 || !q) {
        seqs_done(&busy);
        return q ? status : db_failed(s);
    }
    c->running = busy.n;
    c->waiting -= busy.n < c->waiting ? busy.n : c->waiting;
    sqlite3_bind_int64(q, 1, s->queue);
    sqlite3_bind_int64(q, 2, (int64_t)busy.n + 1);
    while (c->waiting && (rc = sqlite3_step(q)) == SQLITE_ROW)
        if (!seqs_has(&busy, sqlite3_column_int64(q, 0))) {
            if (sqlite3_column_int64(q, 1) < *oldest)
                *oldest = sqlite3_column_int64(q, 1);
            break;
        }
    sqlite3_reset(q);
    seqs_done(&busy);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : db_failed(s);
}

static int count_dead(struct sqlite_broker *s, struct broker_counts *c)
{
    sqlite3_stmt *q = db_statement(s, SQL_COUNT_DEAD);
    int rc, i = 0;

    if (!q)
        return db_failed(s);
    sqlite3_bind_int64(q, 1, s->queue);
    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        const char *reason = (const char *)sqlite3_column_text(q, 0);
        uint64_t n = (uint64_t)sqlite3_column_int64(q, 1);
        c->dead += n;
        if (i == BROKER_REASONS)
            continue;
        snprintf(c->dead_by[i].reason, sizeof c->dead_by[i].reason, "%s",
                 reason ? reason : "unknown");
        c->dead_by[i++].n = n;
    }
    sqlite3_reset(q);
    return rc == SQLITE_DONE ? 0 : db_failed(s);
}

int look_counts(struct broker *b, struct broker_counts *ret)
{
    struct sqlite_broker *s = (struct sqlite_broker *)b;
    struct broker_counts c = { .workers = 0 };
    int64_t now = clock_now_ms(s), oldest = INT64_MAX;
    int status = count_held(s, now, &c, &oldest);

    if (status == 0)
        status = count_ready(s, now, &c);
    if (status == 0)
        status = count_running(s, &c, &oldest);
    if (status == 0)
        status = count_dead(s, &c);
    if (status == 0)
        status = workers_alive(s, false, &c.workers);
    if (status != 0)
        return status;
    c.oldest_ns = oldest >= now ? 0 : (now - oldest) * MS;
    *ret = c;
    return 0;
}

/* ===== list ===== */

static enum broker_state state_of(sqlite3_stmt *q, int64_t due_ms, int64_t now)
{
    switch (sqlite3_column_int(q, 14)) {
    case ROW_DEAD:
        return BROKER_IS_DEAD;
    case ROW_HELD:
        return due_ms > now ? BROKER_IS_LATER : BROKER_IS_HELD;
    default:
        return due_ms > now ? BROKER_IS_LATER : BROKER_IS_WAITING;
    }
}

static const char *text_of(sqlite3_stmt *q, int column)
{
    const char *text = (const char *)sqlite3_column_text(q, column);

    return text ? text : "";
}

/* bide_runs(seq), in SQL. */
static void runs(sqlite3_context *of, int n, sqlite3_value **values)
{
    const struct sqlite_broker *s = sqlite3_user_data(of);

    (void)n;
    sqlite3_result_int(of, s->runs &&
                               seqs_has(s->runs, sqlite3_value_int64(values[0])));
}

int look_open(struct sqlite_broker *s)
{
    return sqlite3_create_function_v2(s->db, "bide_runs", 1,
                                      SQLITE_UTF8 | SQLITE_DIRECTONLY, s, runs,
                                      NULL, NULL, NULL) == SQLITE_OK
               ? 0
               : db_failed(s);
}

/* `after` is behind this id and, if those are meant, all that begin like it: no id has
 * the byte 1. */
static void bind_filter(struct sqlite_broker *s, sqlite3_stmt *q,
                        const struct broker_filter *f, bool begins, char *after)
{
    sqlite3_bind_int64(q, 1, s->queue);
    db_bind_text(q, 2, f->id);
    if (f->id && *f->id) {
        snprintf(after, QUEUE_ID_MAX + 5, "%s%s", f->id,
                 begins ? "\xf4\x8f\xbf\xbf" : "\x01");
        sqlite3_bind_text(q, 3, after, -1, SQLITE_STATIC);
    } else {
        sqlite3_bind_null(q, 3);
    }
    sqlite3_bind_int64(q, 4, f->since_ms);
    sqlite3_bind_int64(q, 5, f->until_ms ? f->until_ms : INT64_MAX);
    sqlite3_bind_int64(q, 6, f->most ? (int64_t)f->most : -1);
    if (f->dead)
        db_bind_text(q, 7, f->reason);
    else
        sqlite3_bind_int64(q, 7, clock_now_ms(s));
}

static int list(struct sqlite_broker *s, const struct broker_filter *f, bool begins,
                broker_each *fn, void *arg, size_t *ret_told)
{
    sqlite3_stmt *q = db_statement(s, f->dead ? SQL_LIST_DEAD : SQL_LIST_LIVE);
    char after[QUEUE_ID_MAX + 5];
    struct seqs busy = { 0 };
    bool more = true, known;
    int rc = SQLITE_DONE;
    int status = q ? held_read(s, &busy, NULL, &known) : db_failed(s);

    if (status != 0) {
        seqs_done(&busy);
        return status;
    }
    bind_filter(s, q, f, begins, after);
    s->runs = &busy;
    while (more && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        struct queue_message *m = row_message(q);
        struct broker_row row = { .message = m, .now_ms = clock_now_ms(s) };
        if (!m)
            break;
        row.state = state_of(q, m->due_ms, row.now_ms);
        if (!f->dead && seqs_has(&busy, (int64_t)m->number)) {
            row.state = BROKER_IS_RUNNING;
            m->deliveries++;
        }
        row.reason = text_of(q, 15);
        row.cls = text_of(q, 16);
        row.tail = sqlite3_column_blob(q, 17);
        row.tail_len = (size_t)sqlite3_column_bytes(q, 17);
        row.died_ms = sqlite3_column_int64(q, 18);
        more = fn(arg, &row);
        ++*ret_told;
        queue_message_free(m);
    }
    sqlite3_reset(q);
    s->runs = NULL;
    seqs_done(&busy);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : db_failed(s);
}

int look_each(struct broker *b, const struct broker_filter *f, broker_each *fn,
              void *arg)
{
    struct sqlite_broker *s = (struct sqlite_broker *)b;
    size_t told = 0;
    int status = list(s, f, false, fn, arg, &told);

    if (status != 0 || told > 0 || !f->id || !*f->id)
        return status;
    return list(s, f, true, fn, arg, &told);
}

/* ===== redrive ===== */

int look_redrive(struct broker *b, const char *const *ids, size_t n,
                 bool fresh_key, size_t *ret_n)
{
    struct sqlite_broker *s = (struct sqlite_broker *)b;
    int status = db_enter(s);

    *ret_n = 0;
    if (status != 0)
        return status;
    for (size_t i = 0; i < n && status == 0; i++) {
        sqlite3_stmt *q = db_statement(s, SQL_REDRIVE);
        if (!q)
            return db_leave(s, db_failed(s));
        sqlite3_bind_int64(q, 1, s->queue);
        sqlite3_bind_text(q, 2, ids[i], -1, SQLITE_STATIC);
        sqlite3_bind_int64(q, 3, s->now_ms);
        sqlite3_bind_int(q, 4, fresh_key);
        status = db_run(s, q);
        *ret_n += status == 0 && sqlite3_changes(s->db) > 0;
    }
    s->ring = true;
    return db_leave(s, status);
}

int look_queues(struct broker *b, void (*fn)(void *arg, const char *name),
                void *arg)
{
    struct sqlite_broker *s = (struct sqlite_broker *)b;
    sqlite3_stmt *q = db_statement(s, SQL_QUEUES);
    int rc;

    if (!q)
        return db_failed(s);
    while ((rc = sqlite3_step(q)) == SQLITE_ROW)
        fn(arg, text_of(q, 0));
    sqlite3_reset(q);
    return rc == SQLITE_DONE ? 0 : db_failed(s);
}
