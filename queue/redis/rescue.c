/* What workers held whose lease has ended. Three steps: look, decide by
 * queue/blame.h, and change it if it is still so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/blame.h"
#include "queue/redis/session.h"
#include "queue/redis/workers.h"

/* One message of a dead worker, copied: the next script ends the answer. */
struct held {
    char *handle, *errors;
    int64_t token;
    uint32_t deaths, attempt;
};

struct estate {
    char *worker;
    struct held *list;
    size_t n;
};

static char *copy(const struct redis_reply *r)
{
    return strndup(r->text ? r->text : "", r->len);
}

static void free_estate(struct estate *e)
{
    for (size_t i = 0; i < e->n; i++) {
        free(e->list[i].handle);
        free(e->list[i].errors);
    }
    free(e->list);
    free(e->worker);
}

/* { worker, now, { { handle, token, deaths, attempt, errors }, ... } } */
static bool read_estate(const struct redis_reply *r, struct estate *e)
{
    const struct redis_reply *list = &r->items[2];

    e->worker = copy(&r->items[0]);
    e->list = calloc(list->n + 1, sizeof *e->list);
    if (!e->worker || !e->list)
        return false;
    for (; e->n < list->n; e->n++) {
        const struct redis_reply *m = &list->items[e->n];
        if (m->n < 5)
            return false;
        e->list[e->n] = (struct held){ .handle = copy(&m->items[0]),
                                       .errors = copy(&m->items[4]),
                                       .token = rq_int(m, 1),
                                       .deaths = (uint32_t)rq_int(m, 2),
                                       .attempt = (uint32_t)rq_int(m, 3) };
        if (!e->list[e->n].handle || !e->list[e->n].errors)
            return e->n++, false;
    }
    return true;
}

static size_t put_held(struct redis_broker *q, const struct held *h,
                       size_t n_running)
{
    struct queue_blame b = queue_blame(n_running, h->deaths, q->max_deaths);
    char errors[QUEUE_ERRORS_MAX + 1], text[64];

    if (b.dead) {
        snprintf(text, sizeof text, "its worker died (death %u)",
                 b.deaths);
        queue_errors_add(errors, h->errors, rq_now_ms(q), h->attempt + 1, text);
    }
    redis_arg(q->redis, h->handle);
    redis_arg_int(q->redis, h->token);
    redis_arg_int(q->redis, b.deaths);
    redis_arg_int(q->redis, b.suspect);
    redis_arg_int(q->redis, b.dead);
    redis_arg(q->redis, b.dead ? errors : h->errors);
    return b.dead;
}

static int settle_estate(struct redis_broker *q, const struct estate *e,
                         struct broker_rescued *sum)
{
    struct redis_reply reply;
    size_t dead = 0;
    int status = rq_begin(q, "rescue", (unsigned)(2 + 6 * e->n));

    if (status != 0)
        return status;
    redis_arg(q->redis, e->worker);
    redis_arg_int(q->redis, (int64_t)e->n);
    for (size_t i = 0; i < e->n; i++)
        dead += put_held(q, &e->list[i], e->n);
    status = rq_end(q, &reply);
    if (status == 0 && reply.type == REDIS_INTEGER && reply.integer >= 0) {
        sum->workers++;
        sum->messages += (size_t)reply.integer;
        sum->dead += dead;
    }
    return status;
}

static int read_estates(struct redis_broker *q, struct estate *list, size_t most,
                        size_t *ret_n)
{
    struct redis_reply reply;
    int status = rq_begin(q, "lost", 1);

    if (status != 0)
        return status;
    redis_arg(q->redis, q->worker); /* who asks is alive */
    status = rq_end(q, &reply);
    if (status != 0)
        return status;
    for (; *ret_n < reply.n && *ret_n < most; (*ret_n)++) {
        const struct redis_reply *r = &reply.items[*ret_n];
        if (r->n < 3)
            return broker_fail(&q->b, BROKER_CORRUPT, "redis: not an answer");
        rq_heard_now(q, rq_int(r, 1));
        if (!read_estate(r, &list[*ret_n]))
            return (*ret_n)++,
                   broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    }
    return 0;
}

int rq_rescue(struct broker *b, struct broker_rescued *ret)
{
    struct redis_broker *q = (struct redis_broker *)b;
    struct broker_rescued sum = { 0, 0, 0 };
    struct estate list[16];
    size_t n = 0;

    memset(list, 0, sizeof list);
    int status = read_estates(q, list, 16, &n);
    for (size_t i = 0; i < n; i++) {
        if (status == 0)
            status = settle_estate(q, &list[i], &sum);
        free_estate(&list[i]);
    }
    if (status == 0)
        *ret = sum;
    return status;
}
