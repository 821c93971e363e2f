/* Putting: a batch is one run of the script. */
#include "queue/redis/put.h"

#include <stdio.h>
#include <string.h>

#include "queue/make_id.h"
#include "queue/redis/check.h"
#include "queue/redis/session.h"

static void put_one(struct redis *r, const struct broker_put *p)
{
    redis_arg(r, p->made_id);
    redis_arg(r, p->id ? "1" : "0"); /* one that we drew needs no comparing */
    redis_arg(r, p->key ? p->key : "");
    redis_arg_int(r, p->priority);
    redis_arg_int(r, p->delay_ns / 1000);
    redis_arg_bytes(r, p->body, p->len);
    redis_arg_int(r, (int64_t)p->n_attributes);
    for (size_t i = 0; i < p->n_attributes; i++) {
        redis_arg(r, p->attributes[i].name);
        redis_arg(r, p->attributes[i].value);
    }
}

static int name_all(struct broker *b, struct broker_put *items, size_t n,
                    size_t *ret_args)
{
    *ret_args = 1;
    for (size_t i = 0; i < n; i++) {
        if (items[i].len > b->traits.max_body)
            return broker_fail(b, BROKER_REFUSED,
                               "a message of %zu bytes: at most %zu",
                               items[i].len, b->traits.max_body);
        if (items[i].id)
            snprintf(items[i].made_id, sizeof items[i].made_id, "%s",
                     items[i].id);
        else
            queue_make_id(items[i].made_id);
        *ret_args += 7 + 2 * items[i].n_attributes;
    }
    return 0;
}

int rq_put(struct broker *b, struct broker_put *items, size_t n)
{
    struct redis_broker *q = (struct redis_broker *)b;
    struct redis_reply reply;
    size_t args;
    int status = name_all(b, items, n, &args);

    if (status == 0)
        status = rq_ready(q);
    if (status == 0)
        status = rq_keeps(q);
    if (status == 0)
        status = rq_begin(q, "put", (unsigned)args);
    if (status != 0)
        return status;
    redis_arg_int(q->redis, (int64_t)n);
    for (size_t i = 0; i < n; i++)
        put_one(q->redis, &items[i]);
    status = rq_end(q, &reply);
    for (size_t i = 0; i < n && status == 0; i++)
        items[i].duplicate = rq_int(&reply, i) == 1;
    return status;
}
