/* What loses messages in Redis. Its defaults do: it keeps them in memory. */
#include "queue/redis/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/redis/session.h"

/* A setting's value; "" where the server does not tell. */
static int setting(struct redis_broker *q, const char *name, char *to,
                   size_t size)
{
    struct redis_reply r;

    to[0] = '\0';
    redis_command(q->redis, 3);
    redis_arg(q->redis, "CONFIG");
    redis_arg(q->redis, "GET");
    redis_arg(q->redis, name);
    int status = rq_answer(q, &r);
    if (status == 0 && r.n >= 2)
        snprintf(to, size, "%.*s", (int)r.items[1].len, r.items[1].text);
    return status == BROKER_REFUSED ? 0 : status; /* no CONFIG for us */
}

static void check_keeping(const char *appendonly, const char *appendfsync,
                          broker_finding *fn, void *arg)
{
    if (strcmp(appendonly, "no") == 0)
        fn(arg, BROKER_LOSS,
           "appendonly is no: when the server dies, messages since its last "
           "snapshot are lost",
           "CONFIG SET appendonly yes");
    if (strcmp(appendfsync, "no") == 0 || strcmp(appendfsync, "everysec") == 0)
        fn(arg, BROKER_LOSS,
           strcmp(appendfsync, "no") == 0
               ? "appendfsync is no: when the machine dies, messages that were "
                 "confirmed are lost"
               : "appendfsync is everysec: when the machine dies, a second of "
                 "messages that were confirmed is lost",
           "CONFIG SET appendfsync always");
}

static void check_eviction(const char *policy, const char *maxmemory,
                           broker_finding *fn, void *arg)
{
    char found[200];
    bool full = strtoull(maxmemory, NULL, 10) > 0;

    if (strncmp(policy, "allkeys", 7) != 0)
        return;
    snprintf(found, sizeof found,
             full ? "maxmemory-policy is %.40s: with maxmemory %.40s it deletes "
                    "queues to make room"
                  : "maxmemory-policy is %.40s: once a maxmemory is set (now %.40s) "
                    "it deletes queues to make room",
             policy, maxmemory);
    fn(arg, BROKER_LOSS, found, "CONFIG SET maxmemory-policy noeviction");
}

/* What is done is deleted, also for other groups that read the stream. */
static int check_groups(struct redis_broker *q, broker_finding *fn, void *arg)
{
    struct redis_reply r;
    char found[300];

    redis_command(q->redis, 3);
    redis_arg(q->redis, "XINFO");
    redis_arg(q->redis, "GROUPS");
    redis_arg(q->redis, q->b.queue);
    int status = rq_answer(q, &r);
    if (status != 0)
        return status == BROKER_REFUSED ? 0 : status; /* no stream yet */
    for (size_t i = 0; i < r.n; i++) {
        const struct redis_reply *g = &r.items[i];
        if (g->n < 2 || redis_reply_begins(&g->items[1], "bide"))
            continue;
        snprintf(found, sizeof found,
                 "the group %.*s reads the stream, too: it misses what bide has "
                 "done and deleted",
                 (int)(g->items[1].len < 100 ? g->items[1].len : 100),
                 g->items[1].text);
        fn(arg, BROKER_WASTE, found, "a stream of its own for each");
    }
    return 0;
}

enum { APPENDONLY, APPENDFSYNC, EVICTION, MAXMEMORY, N_SETTINGS };

/* What the server would do to messages that it has confirmed. */
static int check_settings(struct redis_broker *q, broker_finding *fn, void *arg)
{
    static const char *const names[N_SETTINGS] = { "appendonly", "appendfsync",
                                                   "maxmemory-policy",
                                                   "maxmemory" };
    char values[N_SETTINGS][64];
    int status = 0;

    for (int i = 0; i < N_SETTINGS && status == 0; i++)
        status = setting(q, names[i], values[i], sizeof values[i]);
    if (status != 0)
        return status;
    if (!*values[APPENDONLY])
        fn(arg, BROKER_WASTE,
           "the server does not show its settings: whether it keeps messages is "
           "not known",
           "appendonly yes, appendfsync always, maxmemory-policy noeviction");
    check_keeping(values[APPENDONLY], values[APPENDFSYNC], fn, arg);
    check_eviction(values[EVICTION], values[MAXMEMORY], fn, arg);
    return 0;
}

int rq_check(struct broker *b, const struct broker_plan *plan,
             broker_finding *fn, void *arg)
{
    struct redis_broker *q = (struct redis_broker *)b;
    int status = rq_ready(q);

    (void)plan; /* leases are renewed by beats, and nothing here expires */
    if (status == 0)
        status = check_settings(q, fn, arg);
    return status == 0 ? check_groups(q, fn, arg) : status;
}

/* ===== who only puts ===== */

struct verdict {
    struct redis_broker *q;
    int status;
};

static void refuse_loss(void *arg, enum broker_severity severity,
                        const char *found, const char *change)
{
    struct verdict *v = arg;

    if (severity != BROKER_LOSS)
        return;
    /* All of them: whoever mends one would be refused for the next. */
    size_t len = v->status == 0 ? 0 : strlen(v->q->b.error);
    char before[sizeof v->q->b.error];
    memcpy(before, v->q->b.error, len);
    v->status = broker_fail(&v->q->b, BROKER_REFUSED, "%.*s%s%s; %s", (int)len,
                            before, len ? "; " : "redis: ", found, change);
}

int rq_keeps(struct redis_broker *q)
{
    struct verdict v = { .q = q };

    /* Among answers that are still to be read there is no place for others. */
    if (redis_connection(q->redis) == q->keeps || q->settling)
        return 0;
    int status = check_settings(q, refuse_loss, &v);
    if (status == 0 && v.status == 0)
        q->keeps = redis_connection(q->redis);
    return status != 0 ? status : v.status;
}
