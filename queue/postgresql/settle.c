/* Settling: what became of a batch, in one statement. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "queue/postgresql/deliver.h"
#include "queue/postgresql/session.h"

/* One that an earlier row of this worker held has the number of nothing: the same
 * message may be in hand again. */
static void put_numbers(struct pg_broker *q, const struct broker_end *ends,
                        size_t n)
{
    pg_array_begin(&q->args, PG_INT8, n);
    for (size_t i = 0; i < n; i++)
        pg_element_i64(&q->args, pgq_is_past(q, ends[i].message)
                                     ? INT64_MIN
                                     : (int64_t)ends[i].message->number);
    pg_arg_end(&q->args);
}

static void put_how(struct pg_args *args, const struct broker_end *ends,
                    size_t n)
{
    pg_array_begin(args, PG_INT4, n);
    for (size_t i = 0; i < n; i++)
        pg_element_i32(args, ends[i].how == BROKER_DONE    ? 0
                             : ends[i].how == BROKER_AGAIN ? 1
                                                           : 2);
    pg_arg_end(args);
    pg_array_begin(args, PG_INT8, n);
    for (size_t i = 0; i < n; i++)
        pg_element_i64(args, ends[i].delay_ns / 1000);
    pg_arg_end(args);
    pg_array_begin(args, PG_BOOL, n);
    for (size_t i = 0; i < n; i++)
        pg_element_bool(args, ends[i].counts);
    pg_arg_end(args);
    pg_array_begin(args, PG_BOOL, n);
    for (size_t i = 0; i < n; i++)
        pg_element_bool(args, ends[i].ran);
    pg_arg_end(args);
}

/* The server takes UTF-8 only, without zero bytes; a handler's error need not
 * be. */
static void put_text(struct pg_args *args, const char *text)
{
    struct bide__out clean = { 0 };

    for (const char *end = text + strlen(text); text < end;) {
        size_t len = bide__utf8_next(text, (size_t)(end - text), NULL);
        bide__out_bytes(&clean, len ? text : "?", len ? len : 1);
        text += len ? len : 1;
    }
    pg_element_bytes(args, clean.data, clean.len);
    args->out.failed |= clean.failed;
    bide__out_done(&clean);
}

static void put_errors(struct pg_broker *q, const struct broker_end *ends,
                       size_t n)
{
    char errors[QUEUE_ERRORS_MAX + 1];

    pg_array_begin(&q->args, PG_TEXT, n);
    for (size_t i = 0; i < n; i++) {
        const struct queue_message *m = ends[i].message;
        if (ends[i].how != BROKER_DONE && ends[i].error) {
            queue_errors_add(errors, m->errors, pgq_now_ms(q), m->attempt + 1,
                             ends[i].error);
            put_text(&q->args, errors);
        } else {
            put_text(&q->args, ends[i].how == BROKER_DONE ? "" : m->errors);
        }
    }
    pg_arg_end(&q->args);
}

static void put_death(struct pg_args *args, const struct broker_end *ends,
                      size_t n)
{
    pg_array_begin(args, PG_TEXT, n);
    for (size_t i = 0; i < n; i++)
        put_text(args, ends[i].reason ? ends[i].reason : "");
    pg_arg_end(args);
    pg_array_begin(args, PG_TEXT, n);
    for (size_t i = 0; i < n; i++)
        put_text(args, ends[i].cls ? ends[i].cls : "");
    pg_arg_end(args);
    pg_array_begin(args, PG_BYTEA, n);
    for (size_t i = 0; i < n; i++)
        pg_element_bytes(args, ends[i].tail, ends[i].tail ? ends[i].tail_len : 0);
    pg_arg_end(args);
}

/* The usual batch: all of them done, none with a key. */
static bool is_plain(const struct broker_end *ends, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ends[i].how != BROKER_DONE || *ends[i].message->key)
            return false;
    return true;
}

static const char done_sql[] = "SELECT * FROM bide_queue.done($1, $2)";

static const char settle_sql[] =
    "SELECT * FROM bide_queue.settle($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, "
    "$11, $12)";

static int run(struct pg_broker *q, const struct broker_end *ends, size_t n,
               PGresult **ret)
{
    struct pg_args *args = pgq_args(q);

    if (is_plain(ends, n)) {
        pg_arg_i64(args, q->worker);
        put_numbers(q, ends, n);
        return pgq_run(q, done_sql, ret);
    }
    pg_arg_text(args, q->b.queue);
    pg_arg_i64(args, q->worker);
    put_numbers(q, ends, n);
    pg_array_begin(args, PG_TEXT, n);
    for (size_t i = 0; i < n; i++)
        pg_element_bytes(args, ends[i].message->key,
                         strlen(ends[i].message->key));
    pg_arg_end(args);
    put_how(args, ends, n);
    put_errors(q, ends, n);
    put_death(args, ends, n);
    return pgq_run(q, settle_sql, ret);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Which of them the server named: the others are somebody else's. */
static int read_results(struct pg_broker *q, const PGresult *r,
                        struct broker_end *ends, size_t n)
{
    size_t settled = (size_t)PQntuples(r);
    uint64_t *numbers = malloc((settled + 1) * sizeof *numbers);

    if (!numbers)
        return broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < settled; i++)
        numbers[i] = (uint64_t)pg_int(r, (int)i, 0);
    qsort(numbers, settled, sizeof *numbers, by_value);
    for (size_t i = 0; i < n; i++) {
        struct queue_message *m = ends[i].message;
        m->lost = pgq_is_past(q, m) || !bsearch(&m->number, numbers, settled,
                                                sizeof *numbers, by_value);
        ends[i].result = m->lost ? BROKER_LOST : BROKER_SETTLED;
        pgq_let_go(q, m);
    }
    free(numbers);
    return 0;
}

int pgq_settle(struct broker *b, struct broker_end *ends, size_t n)
{
    struct pg_broker *q = (struct pg_broker *)b;
    PGresult *r;
    int status = pgq_ready(q);

    if (status == 0)
        status = run(q, ends, n, &r);
    if (status != 0)
        return status;
    status = read_results(q, r, ends, n);
    PQclear(r);
    return status;
}
