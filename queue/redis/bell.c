/* A connection of its own that always hangs in XREAD, for all priorities: what
 * is added between a look and the wait is heard, too. Behind it there is a poll:
 * due times ring no bell. */
#include "queue/redis/bell.h"

#include <poll.h>
#include <stdio.h>

#include "bide/run.h"
#include "queue/redis/session.h"

#define MS INT64_C(1000000)

enum { STREAMS = 2 * QUEUE_PRIORITY_MAX + 1 };

/* Asks for the next entry of any of the streams, and does not wait for it. */
static void hang(struct redis_broker *q)
{
    char name[QUEUE_NAME_MAX + 20];

    redis_command(q->bell, 6 + 2 * STREAMS);
    redis_arg(q->bell, "XREAD");
    redis_arg(q->bell, "COUNT");
    redis_arg(q->bell, "1");
    redis_arg(q->bell, "BLOCK");
    redis_arg(q->bell, "0");
    redis_arg(q->bell, "STREAMS");
    for (int p = -QUEUE_PRIORITY_MAX; p <= QUEUE_PRIORITY_MAX; p++) {
        if (p == 0)
            snprintf(name, sizeof name, "%s", q->b.queue);
        else
            snprintf(name, sizeof name, "%s:priority:%d", q->b.queue, p);
        redis_arg(q->bell, name);
    }
    for (int i = 0; i < STREAMS; i++)
        redis_arg(q->bell, "$");
    if (redis_send(q->bell, bide_now_ns() + 1000 * MS) == 0)
        q->bell_hangs = redis_connection(q->bell);
}

int rq_wait_fd(struct broker *b, int64_t *ret_poll_ns)
{
    struct redis_broker *q = (struct redis_broker *)b;

    *ret_poll_ns = 1000 * MS;
    if (!q->bell || redis_connect(q->bell, bide_now_ns() + 1000 * MS) != 0)
        return -1;
    if (q->bell_hangs == redis_connection(q->bell))
        return redis_fd(q->bell);
    hang(q);
    *ret_poll_ns = 0; /* what came before it hung: look once more */
    return redis_fd(q->bell);
}

void rq_woken(struct broker *b)
{
    struct redis_broker *q = (struct redis_broker *)b;
    struct redis_reply reply;

    if (!q->bell || !redis_is_connected(q->bell) ||
        q->bell_hangs != redis_connection(q->bell))
        return;
    struct pollfd p = { .fd = redis_fd(q->bell), .events = POLLIN };
    if (poll(&p, 1, 0) <= 0)
        return; /* it was the poll behind it */
    q->bell_hangs = 0;
    if (redis_next(q->bell, bide_now_ns() + 1000 * MS, &reply) == 0)
        hang(q);
}
