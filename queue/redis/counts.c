/* How many there are, of what, and which queues. */
#include <stdio.h>
#include <string.h>

#include "bide/policy.h"
#include "queue/redis/look.h"
#include "queue/redis/session.h"

enum { WAITING, HELD, LATER, RUNNING, DEAD, OLDEST, NEXT, WORKERS, REASONS };

/* The most frequent first. */
static void add_reason(struct broker_counts *c, const struct redis_reply *name,
                       uint64_t n)
{
    int i = 0;

    while (i < BROKER_REASONS && c->dead_by[i].n >= n)
        i++;
    if (i == BROKER_REASONS)
        return;
    memmove(&c->dead_by[i + 1], &c->dead_by[i],
            (size_t)(BROKER_REASONS - 1 - i) * sizeof c->dead_by[0]);
    snprintf(c->dead_by[i].reason, sizeof c->dead_by[i].reason, "%.*s",
             (int)(name->len < 31 ? name->len : 31), name->text);
    c->dead_by[i].n = n;
}

int rq_counts(struct broker *b, struct broker_counts *ret)
{
    struct redis_broker *q = (struct redis_broker *)b;
    struct redis_reply r;
    int status = rq_begin(q, "counts", 0);

    if (status == 0)
        status = rq_end(q, &r);
    if (status != 0)
        return status;
    int64_t next_us = rq_int(&r, NEXT);
    *ret = (struct broker_counts){
        .waiting = (uint64_t)rq_int(&r, WAITING),
        .held = (uint64_t)rq_int(&r, HELD),
        .later = (uint64_t)rq_int(&r, LATER),
        .running = (uint64_t)rq_int(&r, RUNNING),
        .dead = (uint64_t)rq_int(&r, DEAD),
        .oldest_ns = rq_int(&r, OLDEST) * 1000,
        .next_ns = next_us < 0 ? BIDE_FOREVER : next_us * 1000,
        .workers = (uint64_t)rq_int(&r, WORKERS),
    };
    for (size_t i = REASONS; i + 1 < r.n; i += 2)
        add_reason(ret, &r.items[i], (uint64_t)rq_int(&r, i + 1));
    return 0;
}

int rq_names(struct broker *b, void (*fn)(void *arg, const char *name),
             void *arg)
{
    struct redis_broker *q = (struct redis_broker *)b;
    struct redis_reply r;

    redis_command(q->redis, 2);
    redis_arg(q->redis, "SMEMBERS");
    redis_arg(q->redis, "bide:queues");
    int status = rq_answer(q, &r);
    for (size_t i = 0; status == 0 && i < r.n; i++) {
        char name[QUEUE_NAME_MAX + 1];
        snprintf(name, sizeof name, "%.*s", (int)r.items[i].len,
                 r.items[i].text);
        fn(arg, name);
    }
    return status;
}

int rq_queues(struct broker *b, void (*fn)(void *arg, const char *name),
              void *arg)
{
    int status = rq_ready((struct redis_broker *)b);

    return status == 0 ? rq_names(b, fn, arg) : status;
}
