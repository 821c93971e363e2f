/* What workers held that are gone or frozen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/blame.h"
#include "queue/sqlite/clock.h"
#include "queue/sqlite/db.h"
#include "queue/sqlite/held.h"
#include "queue/sqlite/lock.h"
#include "queue/sqlite/turn.h"
#include "queue/sqlite/workers.h"

/* A message that a worker held. */
struct held {
    int64_t seq, queue;
    uint32_t deaths, attempt;
    char *key, *errors;
};

static char *copy_text(sqlite3_stmt *q, int column)
{
    const char *text = (const char *)sqlite3_column_text(q, column);

    return strdup(text ? text : "");
}

static void free_list(struct held *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(list[i].key);
        free(list[i].errors);
    }
    free(list);
}

/* Adds one, unless somebody has deleted it. */
static int read_held(struct sqlite_broker *s, int64_t seq, struct held *list,
                     size_t *n)
{
    sqlite3_stmt *q = db_statement(s, SQL_ONE_HELD);

    if (!q)
        return db_failed(s);
    sqlite3_bind_int64(q, 1, seq);
    int rc = sqlite3_step(q);
    if (rc == SQLITE_ROW)
        list[(*n)++] = (struct held){
            .seq = sqlite3_column_int64(q, 0),
            .deaths = (uint32_t)sqlite3_column_int64(q, 1),
            .queue = sqlite3_column_int64(q, 2),
            .key = copy_text(q, 3),
            .errors = copy_text(q, 4),
            .attempt = (uint32_t)sqlite3_column_int64(q, 5),
        };
    sqlite3_reset(q);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : db_failed(s);
}

static int by_seq(const void *a, const void *b)
{
    int64_t x = ((const struct held *)a)->seq, y = ((const struct held *)b)->seq;

    return x < y ? -1 : x > y;
}

static int list_held(struct sqlite_broker *s, int64_t worker,
                     struct held **ret, size_t *ret_n)
{
    struct seqs set = { 0 };
    int status = held_of(s, worker, &set);

    if (status == 0 && !(*ret = calloc(set.n + 1, sizeof **ret)))
        status = broker_fail(&s->b, BROKER_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < set.size && status == 0; i++)
        if (set.slots[i])
            status = read_held(s, set.slots[i], *ret, ret_n);
    seqs_done(&set);
    if (*ret_n > 0)
        qsort(*ret, *ret_n, sizeof **ret, by_seq);
    return status;
}

static int bury_crashed(struct sqlite_broker *s, const struct held *h,
                        uint32_t deaths)
{
    sqlite3_stmt *q = db_statement(s, SQL_BURY);
    char errors[QUEUE_ERRORS_MAX + 1], error[64];

    if (!q)
        return db_failed(s);
    snprintf(error, sizeof error, "its worker died (death %u)", deaths);
    queue_errors_add(errors, h->errors ? h->errors : "", s->now_ms,
                     h->attempt + 1, error);
    sqlite3_bind_int64(q, 1, h->seq);
    sqlite3_bind_int64(q, 2, s->now_ms);
    sqlite3_bind_int(q, 3, 0);
    sqlite3_bind_text(q, 4, "crashed", -1, SQLITE_STATIC);
    sqlite3_bind_text(q, 5, "permanent", -1, SQLITE_STATIC);
    sqlite3_bind_null(q, 6);
    sqlite3_bind_text(q, 7, errors, -1, SQLITE_STATIC);
    sqlite3_bind_int64(q, 8, deaths);
    int status = db_run(s, q);
    return status == 0 && h->key && *h->key
               ? turn_of_key(s, h->queue, h->key)
               : status;
}

static int let_go(struct sqlite_broker *s, const struct held *h,
                  struct queue_blame blame)
{
    sqlite3_stmt *q = db_statement(s, SQL_FREE);

    if (!q)
        return db_failed(s);
    sqlite3_bind_int64(q, 1, h->seq);
    sqlite3_bind_int64(q, 2, blame.deaths);
    sqlite3_bind_int(q, 3, blame.suspect);
    s->ring = true;
    return db_run(s, q);
}

/* Frees what worker n held, and forgets it. `died`: somebody is to blame. */
static int bury_worker(struct sqlite_broker *s, int64_t n, bool died,
                       struct broker_rescued *ret)
{
    struct held *list = NULL;
    size_t held = 0;
    int status = list_held(s, n, &list, &held);

    for (size_t i = 0; i < held && status == 0; i++) {
        struct queue_blame blame = { list[i].deaths, list[i].deaths > 0,
                                     false };
        if (died)
            blame = queue_blame(held, list[i].deaths, s->max_deaths);
        status = blame.dead ? bury_crashed(s, &list[i], blame.deaths)
                            : let_go(s, &list[i], blame);
        ret->dead += status == 0 && blame.dead;
        ret->messages += status == 0;
    }
    free_list(list, held);
    sqlite3_stmt *q = db_statement(s, SQL_FORGET_WORKER);
    if (!q)
        return db_failed(s);
    sqlite3_bind_int64(q, 1, n);
    ret->workers++;
    return status == 0 ? db_run(s, q) : status;
}

/* Whether its beat has stood still for a lease, as far as we have watched. */
static bool is_frozen(struct sqlite_broker *s, int64_t n, int64_t beat)
{
    int64_t now = clock_steady_ns(s);
    int i = 0;

    while (i < s->n_seen && s->seen[i].n != n)
        i++;
    if (i == SEEN_WORKERS)
        i = s->n_seen = 0; /* watch them again from now on */
    if (i == s->n_seen) {
        s->n_seen++;
        s->seen[i] = (struct seen_worker){ n, beat, now };
    }
    if (s->seen[i].beat != beat)
        s->seen[i] = (struct seen_worker){ n, beat, now };
    return now - s->seen[i].since_ns >= s->lease_ns;
}

enum { AT_ONCE = 64 };

struct lost_worker {
    int64_t n;
    bool died;
};

static int find_lost(struct sqlite_broker *s, struct lost_worker *list,
                     int *ret_n)
{
    sqlite3_stmt *q = db_statement(s, SQL_WORKERS);
    int rc = SQLITE_DONE;

    if (!q)
        return db_failed(s);
    sqlite3_bind_int64(q, 1, s->worker);
    while (*ret_n < AT_ONCE && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        int64_t n = sqlite3_column_int64(q, 0);
        bool died = !byte_is_locked(s->locks, n);
        if (died || is_frozen(s, n, sqlite3_column_int64(q, 1)))
            list[(*ret_n)++] = (struct lost_worker){ n, died };
    }
    sqlite3_reset(q);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : db_failed(s);
}

int workers_rescue(struct broker *b, struct broker_rescued *ret)
{
    struct sqlite_broker *s = (struct sqlite_broker *)b;
    struct lost_worker lost[AT_ONCE];
    int n = 0, status;

    *ret = (struct broker_rescued){ 0 };
    if (s->locks < 0)
        return 0; /* never took anything */
    if (!s->grouped) { /* usually nobody is lost: look before writing */
        if ((status = find_lost(s, lost, &n)) != 0 || n == 0)
            return status;
        n = 0;
    }
    if ((status = db_enter(s)) != 0)
        return status;
    status = find_lost(s, lost, &n);
    for (int i = 0; i < n && status == 0; i++)
        status = bury_worker(s, lost[i].n, lost[i].died, ret);
    return db_leave(s, status);
}

/* Our own, at the end: nobody died. */
void workers_leave(struct sqlite_broker *s)
{
    struct broker_rescued freed = { 0 };

    if (s->worker && db_enter(s) == 0)
        db_leave(s, bury_worker(s, s->worker, false, &freed));
    s->worker = 0;
}

int workers_alive(struct sqlite_broker *s, bool any, uint64_t *ret)
{
    sqlite3_stmt *q = db_statement(s, SQL_COUNT_WORKERS);
    int rc;

    *ret = 0;
    if (!q)
        return db_failed(s);
    if (any)
        sqlite3_bind_null(q, 1);
    else
        sqlite3_bind_int64(q, 1, s->queue);
    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        int64_t n = sqlite3_column_int64(q, 0);
        *ret += n == s->worker || byte_is_locked(s->locks, n);
    }
    sqlite3_reset(q);
    return rc == SQLITE_DONE ? 0 : db_failed(s);
}
