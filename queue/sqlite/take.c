/* Which messages are next, and taking them.
 *
 * Ready rows lie in an index by priority, whether they failed before, and due time.
 * A take looks at the head of each level that exists: first at whoever has waited
 * for longer than the ageing time, on any level; then from the highest level down,
 * on each the retries up to their share, then the others, then further retries. */
#include <stdlib.h>

#include "bide/policy.h"
#include "queue/sqlite/db.h"
#include "queue/sqlite/deliver.h"
#include "queue/sqlite/held.h"
#include "queue/sqlite/put.h"
#include "queue/sqlite/workers.h"

enum { LEVELS = 2 * QUEUE_PRIORITY_MAX + 1, MOST = 1024 };

struct pick {
    int64_t seq, due_ms;
};

struct picks {
    struct sqlite_broker *s;
    struct seqs busy, own; /* what all workers have, and what we have */
    int levels[LEVELS];
    int n_levels;
    size_t most;
    size_t retries; /* how many more */
    struct pick *list;
    size_t n;
};

static int find_levels(struct picks *p)
{
    int below = QUEUE_PRIORITY_MAX + 1, rc;

    while (p->n_levels < LEVELS) {
        sqlite3_stmt *q = db_statement(p->s, SQL_LEVEL_BELOW);
        if (!q)
            return db_failed(p->s);
        sqlite3_bind_int64(q, 1, p->s->queue);
        sqlite3_bind_int(q, 2, below);
        rc = sqlite3_step(q);
        if (rc == SQLITE_ROW)
            below = p->levels[p->n_levels++] = sqlite3_column_int(q, 0);
        sqlite3_reset(q);
        if (rc == SQLITE_DONE)
            break;
        if (rc != SQLITE_ROW)
            return db_failed(p->s);
    }
    return 0;
}

static bool has(const struct picks *p, int64_t seq)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->list[i].seq == seq)
            return true;
    return false;
}

/* Adds up to `most` of a level that are due by then; those that are picked
 * already are passed over. */
static int pick_due(struct picks *p, int level, bool again, int64_t by_ms,
                    size_t most)
{
    sqlite3_stmt *q = db_statement(p->s, SQL_DUE_AT_LEVEL);
    size_t before = p->n;
    int rc = SQLITE_DONE;

    if (!q)
        return db_failed(p->s);
    if (most > p->most - p->n)
        most = p->most - p->n;
    sqlite3_bind_int64(q, 1, p->s->queue);
    sqlite3_bind_int(q, 2, level);
    sqlite3_bind_int(q, 3, again);
    sqlite3_bind_int64(q, 4, by_ms);
    sqlite3_bind_int64(q, 5, (int64_t)(most + before + p->busy.n));
    while (p->n - before < most && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        int64_t seq = sqlite3_column_int64(q, 0);
        if (!seqs_has(&p->busy, seq) && (before == 0 || !has(p, seq)))
            p->list[p->n++] =
                (struct pick){ seq, sqlite3_column_int64(q, 1) };
    }
    sqlite3_reset(q);
    if (again)
        p->retries -= p->n - before < p->retries ? p->n - before : p->retries;
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : db_failed(p->s);
}

static int by_due(const void *a, const void *b)
{
    const struct pick *x = a, *y = b;

    if (x->due_ms != y->due_ms)
        return x->due_ms < y->due_ms ? -1 : 1;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Who has waited longest, of all levels. On one level nobody is overtaken by
 * another one, so there is nothing to do. */
static int pick_aged(struct picks *p)
{
    int64_t by = p->s->now_ms - p->s->ageing_ns / 1000000;
    size_t most = p->most, best = 0;
    struct pick *all = NULL;
    int status = 0;

    if (p->n_levels < 2)
        return 0;
    struct pick *list = p->list;
    all = malloc(sizeof *all * most * 2 * LEVELS);
    if (!all)
        return broker_fail(&p->s->b, BROKER_NO_MEMORY, "out of memory");
    for (int i = 0; i < 2 * p->n_levels && status == 0; i++) {
        p->list = all + best;
        p->n = 0;
        status = pick_due(p, p->levels[i / 2], i % 2, by, most);
        best += p->n;
    }
    qsort(all, best, sizeof *all, by_due);
    p->list = list;
    p->n = best < most ? best : most;
    for (size_t i = 0; i < p->n; i++)
        list[i] = all[i];
    free(all);
    return status;
}

static int pick_all(struct picks *p)
{
    int64_t now = p->s->now_ms;
    int status = find_levels(p);

    if (status == 0)
        status = pick_aged(p);
    for (int i = 0; i < p->n_levels && status == 0 && p->n < p->most; i++) {
        int level = p->levels[i];
        status = pick_due(p, level, true, now, p->retries);
        if (status == 0)
            status = pick_due(p, level, false, now, p->most);
        if (status == 0)
            status = pick_due(p, level, true, now, p->most);
    }
    return status;
}

/* The first row of a statement that nobody has; seq 0: there is none. */
static int first_free(struct picks *p, sqlite3_stmt *q, struct pick *ret)
{
    int rc;

    *ret = (struct pick){ 0, INT64_MAX };
    sqlite3_bind_int64(q, 1, p->s->queue);
    sqlite3_bind_int64(q, 2, (int64_t)p->busy.n + 1);
    while ((rc = sqlite3_step(q)) == SQLITE_ROW &&
           seqs_has(&p->busy, sqlite3_column_int64(q, 0)))
        ;
    if (rc == SQLITE_ROW)
        *ret = (struct pick){ sqlite3_column_int64(q, 0),
                              sqlite3_column_int64(q, 1) };
    sqlite3_reset(q);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : db_failed(p->s);
}

/* ===== suspects ===== */

static int pick_suspect(struct picks *p)
{
    sqlite3_stmt *q = db_statement(p->s, SQL_DUE_SUSPECT);

    if (!q)
        return db_failed(p->s);
    sqlite3_bind_int64(q, 3, p->s->now_ms);
    int status = first_free(p, q, &p->list[p->n]);
    p->n += status == 0 && p->list[p->n].seq != 0;
    return status;
}

/* ===== when next ===== */

static int find_next(struct picks *p, struct broker_take *want)
{
    struct sqlite_broker *s = p->s;
    int64_t next = INT64_MAX;
    struct pick first;
    int status = 0;
    sqlite3_stmt *q;

    for (int i = 0; i < 2 * p->n_levels && status == 0; i++) {
        if (!(q = db_statement(s, SQL_HEAD_OF_LEVEL)))
            return db_failed(s);
        sqlite3_bind_int(q, 3, p->levels[i / 2]);
        sqlite3_bind_int(q, 4, i % 2);
        status = first_free(p, q, &first);
        if (status == 0 && first.due_ms < next)
            next = first.due_ms;
    }
    if (!(q = db_statement(s, SQL_HEAD_OF_SUSPECTS)))
        return db_failed(s);
    if (status == 0)
        status = first_free(p, q, &first);
    want->suspects = status == 0 && first.due_ms <= s->now_ms;
    if (status == 0 && first.due_ms > s->now_ms && first.due_ms < next)
        next = first.due_ms;
    want->next_ns = next == INT64_MAX ? BIDE_FOREVER
                    : next <= s->now_ms ? 0
                                        : (next - s->now_ms) * 1000000;
    return status;
}

/* ===== taking ===== */

static int take_one(struct picks *p, int64_t seq, struct queue_message **ret)
{
    struct sqlite_broker *s = p->s;
    sqlite3_stmt *q = db_statement(s, SQL_TAKE);

    if (!q)
        return db_failed(s);
    sqlite3_bind_int64(q, 1, seq);
    if (sqlite3_step(q) != SQLITE_ROW) {
        int status = db_failed(s);
        sqlite3_reset(q);
        return status;
    }
    *ret = row_message(q);
    sqlite3_reset(q);
    if (*ret && seqs_add(&p->busy, seq) && seqs_add(&p->own, seq)) {
        (*ret)->deliveries++;
        (*ret)->token = workers_token(s, (*ret)->deliveries);
        return 0;
    }
    queue_message_free(*ret);
    return broker_fail(&s->b, BROKER_NO_MEMORY, "out of memory");
}

static int take_picked(struct picks *p, struct broker_take *want,
                       struct queue_message **ret)
{
    int status = 0;

    if (want->alone)
        status = pick_suspect(p);
    bool suspect = p->n > 0;
    if (status == 0 && !suspect)
        status = pick_all(p);
    for (size_t i = 0; i < p->n && status == 0; i++)
        if ((status = take_one(p, p->list[i].seq, &ret[want->n])) == 0)
            want->n++;
    if (status == 0 && want->n > 0)
        status = held_write(p->s, &p->own);
    if (status == 0 && suspect)
        status = find_levels(p);
    return status == 0 ? find_next(p, want) : status;
}

/* Who has what; if somebody has taken us for dead, we begin again. */
static int look_around(struct picks *p)
{
    struct sqlite_broker *s = p->s;
    bool known = false;
    int status = workers_register(s);

    if (status == 0)
        status = held_read(s, &p->busy, &p->own, &known);
    if (status != 0 || known)
        return status;
    workers_forget_us(s);
    return workers_register(s);
}

int rows_take(struct broker *b, struct broker_take *want,
              struct queue_message **ret)
{
    struct sqlite_broker *s = (struct sqlite_broker *)b;
    struct picks p = { .s = s, .retries = want->retries };
    int status;

    want->n = 0;
    p.most = want->most < MOST ? want->most : MOST;
    p.list = malloc(sizeof *p.list * (p.most + 1));
    if (!p.list)
        return broker_fail(b, BROKER_NO_MEMORY, "out of memory");
    if ((status = db_enter(s)) == 0) {
        status = look_around(&p);
        if (status == 0)
            status = take_picked(&p, want, ret);
        status = db_leave(s, status);
    }
    if (status != 0)
        while (want->n > 0)
            queue_message_free(ret[--want->n]);
    free(p.list);
    seqs_done(&p.busy);
    seqs_done(&p.own);
    return status;
}
