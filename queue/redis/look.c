/* Listing a queue by pages, and making live messages of dead ones. */
#include "queue/redis/look.h"

#include <stdlib.h>
#include <string.h>

#include "queue/redis/put.h"
#include "queue/redis/session.h"

/* A walk over a queue: who is told, and what they want to see. */
struct walk {
    const struct broker_filter *filter;
    broker_each *fn;
    void *arg;
    size_t told;
    bool begins;     /* ids that begin like the filter's count as well, */
    bool count_only; /* and nobody is told */
    bool enough;
};

static bool is_wanted(const struct walk *w, const struct broker_row *row)
{
    const struct broker_filter *f = w->filter;
    int64_t when = f->dead ? row->died_ms : row->message->queued_ms;

    if (f->id && *f->id && strcmp(row->message->id, f->id) != 0 &&
        !(w->begins && strncmp(row->message->id, f->id, strlen(f->id)) == 0))
        return false;
    if (f->dead && f->reason && strcmp(row->reason, f->reason) != 0)
        return false;
    return when >= f->since_ms && (!f->until_ms || when < f->until_ms);
}

static void tell(struct walk *w, const struct broker_row *row)
{
    if (!is_wanted(w, row))
        return;
    w->told++;
    if (!w->count_only && !w->fn(w->arg, row))
        w->enough = true;
    if (w->filter->most && w->told >= w->filter->most)
        w->enough = true;
}

static char *copy(const struct redis_reply *r)
{
    return strndup(r->text ? r->text : "", r->len);
}

/* { state, message } or { died, reason, class, output, message } */
static int tell_row(struct redis_broker *q, struct walk *w,
                    const struct redis_reply *r, int64_t now_ms)
{
    static const enum broker_state states[] = { BROKER_IS_WAITING,
                                                BROKER_IS_HELD, BROKER_IS_LATER,
                                                BROKER_IS_RUNNING };
    bool dead = w->filter->dead;

    if (r->n < (dead ? 5 : 2))
        return broker_fail(&q->b, BROKER_CORRUPT, "redis: not a row");
    struct queue_message *m = rq_message(&r->items[dead ? 4 : 1]);
    char *reason = dead ? copy(&r->items[1]) : strdup("");
    char *cls = dead ? copy(&r->items[2]) : strdup("");
    int status = m && reason && cls
                     ? 0
                     : broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    if (status == 0)
        tell(w, &(struct broker_row){
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

static int walk(struct redis_broker *q, struct walk *w)
{
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
    struct redis_broker *q = (struct redis_broker *)b;
    struct walk w = { .filter = filter, .fn = fn, .arg = arg };
    int status = walk(q, &w);

    if (status != 0 || w.told > 0 || !filter->id || !*filter->id)
        return status;
    /* Nobody has this name: the only one that begins like it? */
    struct walk count = { .filter = filter, .begins = true, .count_only = true };
    status = walk(q, &count);
    w.begins = true;
    return status == 0 && count.told == 1 ? walk(q, &w) : status;
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
