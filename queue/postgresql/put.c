/* Putting: a batch is one INSERT from arrays. */
#include "queue/postgresql/put.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "queue/make_id.h"
#include "queue/postgresql/session.h"

static void put_texts(struct pg_args *args, const struct broker_put *items,
                      size_t n)
{
    pg_array_begin(args, PG_TEXT, n);
    for (size_t i = 0; i < n; i++)
        pg_element_bytes(args, items[i].made_id, strlen(items[i].made_id));
    pg_arg_end(args);
    pg_array_begin(args, PG_TEXT, n);
    for (size_t i = 0; i < n; i++) {
        const char *key = items[i].key ? items[i].key : "";
        pg_element_bytes(args, key, strlen(key));
    }
    pg_arg_end(args);
}

static void put_numbers(struct pg_args *args, const struct broker_put *items,
                        size_t n)
{
    pg_array_begin(args, PG_INT4, n);
    for (size_t i = 0; i < n; i++)
        pg_element_i32(args, items[i].priority);
    pg_arg_end(args);
    pg_array_begin(args, PG_INT8, n);
    for (size_t i = 0; i < n; i++)
        pg_element_i64(args, items[i].delay_ns / 1000);
    pg_arg_end(args);
}

static void write_attributes(struct bide__out *out, const struct broker_put *p)
{
    struct bide__json j;

    bide__out_clear(out);
    bide__json_into(&j, out);
    bide__json_object(&j, NULL);
    for (size_t i = 0; i < p->n_attributes; i++)
        bide__json_text(&j, p->attributes[i].name, p->attributes[i].value);
    bide__json_end(&j);
}

static void put_contents(struct pg_args *args, const struct broker_put *items,
                         size_t n)
{
    struct bide__out text = { 0 };

    pg_array_begin(args, PG_BYTEA, n);
    for (size_t i = 0; i < n; i++)
        pg_element_bytes(args, items[i].body, items[i].len);
    pg_arg_end(args);
    pg_array_begin(args, PG_TEXT, n);
    for (size_t i = 0; i < n; i++) {
        write_attributes(&text, &items[i]);
        pg_element_bytes(args, text.data, text.len);
    }
    pg_arg_end(args);
    if (text.failed)
        args->out.failed = true;
    bide__out_done(&text);
}

/* The server names those that it has put, in their order: the others were there
 * already. */
static void read_duplicates(const PGresult *r, struct broker_put *items,
                            size_t n)
{
    int row = 0;

    for (size_t i = 0; i < n; i++) {
        items[i].duplicate =
            row >= PQntuples(r) ||
            strcmp(PQgetvalue(r, row, 0), items[i].made_id) != 0;
        row += !items[i].duplicate;
    }
}

int pgq_put(struct broker *b, struct broker_put *items, size_t n)
{
    struct pg_broker *q = (struct pg_broker *)b;
    PGresult *r;

    for (size_t i = 0; i < n; i++) {
        if (items[i].len > b->traits.max_body)
            return broker_fail(b, BROKER_REFUSED,
                               "%zu bytes are too large: at most %zu",
                               items[i].len, b->traits.max_body);
        if (items[i].id)
            snprintf(items[i].made_id, sizeof items[i].made_id, "%s",
                     items[i].id);
        else
            queue_make_id(items[i].made_id);
    }
    int status = pgq_ready(q);
    if (status != 0)
        return status;
    struct pg_args *args = pgq_args(q);
    pg_arg_text(args, b->queue);
    put_texts(args, items, n);
    put_numbers(args, items, n);
    put_contents(args, items, n);
    status = pgq_run(q,
                     "SELECT * FROM bide_queue.put($1, $2, $3, $4, $5, $6, $7)",
                     &r);
    if (status != 0)
        return status;
    read_duplicates(r, items, n);
    PQclear(r);
    return 0;
}
