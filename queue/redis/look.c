/* Listing a queue by pages, and making live messages of dead ones. */
#include "queue/redis/look.h"

#include <stdlib.h>
#include <string.h>

#include "queue/redis/put.h"
#include "queue/redis/session.h"
#include "queue/walk.h"

static char *copy(const struct redis_reply *r)
{
    return strndup(r->text ? r->text : "", r->len);
}

/* { state, message } or { died, reason, class, output, message } */
static int tell_row(struct redis_broker *q, struct queue_walk *w,
                    const struct redis_reply *r, int64_t now_ms)
{
    static const enum broker_state states[] = { BROKER_IS_WAITING,
                                                BROKER_IS_HELD, BROKER_IS_LATER,
                                                BROKER_IS_RUNNING };
    bool dead = w->filter->dead;

    if (r->n < (dead ? 5 : 2))
        return broker_fail(&q->b, BROKER_CORRUPT, "redis: not a row");
    struct queue_message *m = rq_message(&r->items[dead ? 4 : 1], 0);
    char *reason = dead ? copy(&r->items[1]) : strdup("");
    char *cls = dead ? copy(&r->items[2]) : strdup("");
    int status = m && reason && cls
                     ? 0
                     : broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    if (status == 0)
        queue_walk_tell(
            w, &(struct broker_row){
                   .message = m,
                   .state = dead ? BROKER_IS_DEAD : states[rq_int(r, 0) & 3],
                   .now_ms = now_ms,
                   .reason = reason,
                   .cls = cls,
                   .tail = dead ? r->items[3].text : "",
                   .tail_len = dead ? r->items[3].len : 0,
                   .died_ms = dead ? rq_int(r, 0) : 0 });
    queue_message_free(m);
    free(reason);
    free(cls);
    return status;
}

static int walk(void *self, struct queue_walk *w)
{
    struct redis_broker *q = self;
    char place[128] = "";
    int status;

    do {
        struct redis_reply r;
        status = rq_begin(q, w->filter->dead ? "dead" : "live", 1);
        if (status != 0)
            return status;
        redis_arg(q->redis, place);
        status = rq_end(q, &r);
        if (status == 0 && (r.n < 3 || r.items[0].len >= sizeof place))
            status = broker_fail(&q->b, BROKER_CORRUPT, "redis: not a page");
        if (status != 0)
            return status;
        memcpy(place, r.items[0].text, r.items[0].len);
        place[r.items[0].len] = '\0';
        for (size_t i = 0; i < r.items[2].n && status == 0 && !w->enough; i++)
            status = tell_row(q, w, &r.items[2].items[i], rq_int(&r, 1) / 1000);
    } while (status == 0 && *place && !w->enough);
    return status;
}

int rq_each(struct broker *b, const struct broker_filter *filter, broker_each *fn,
            void *arg)
{
    return queue_walk(filter, fn, arg, walk, b);
}

int rq_redrive(struct broker *b, const char *const *ids, size_t n, bool fresh_key,
               size_t *ret_n)
{
    struct redis_broker *q = (struct redis_broker *)b;
    struct redis_reply r;
    int status = rq_begin(q, "redrive", (unsigned)(2 + n));

    if (status != 0)
        return status;
    redis_arg_int(q->redis, fresh_key);
    redis_arg_int(q->redis, (int64_t)n);
    for (size_t i = 0; i < n; i++)
        redis_arg(q->redis, ids[i]);
    status = rq_end(q, &r);
    if (status == 0)
        *ret_n = r.type == REDIS_INTEGER ? (size_t)r.integer : 0;
    return status;
}
