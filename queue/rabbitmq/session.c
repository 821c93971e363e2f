/* Being ready: connected, with all queues, a slot, and what we held before. */
#include "queue/rabbitmq/session.h"

#include <string.h>
#include <time.h>

#include "bide/policy.h"
#include "queue/rabbitmq/slot.h"
#include "queue/rabbitmq/track.h"

#define S INT64_C(1000000000)
#define RENEW_NS (240 * S) /* servers close channels after 30 min */

int rmq_tell(struct rmq *q, int status)
{
    if (status != 0 && q->wire.returned) { /* a queue is gone: make it again */
        q->remake = true;
        wire_drop(&q->wire);
    }
    return status == 0 ? 0
                       : broker_fail(&q->b, status, "rabbitmq: %s", q->wire.why);
}

int rmq_no_memory(struct rmq *q)
{
    return broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
}

int64_t rmq_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* The server ends a connection after two intervals of silence, or three. */
static int heartbeat_s(const struct rmq *q)
{
    int64_t s = q->lease_ns / 3 / S;

    return s < 1 ? 1 : s > 600 ? 600 : (int)s;
}

static int settle_in(struct rmq *q)
{
    int status = place_ready(q);

    memset(q->bell_of, 0, sizeof q->bell_of);
    q->flow = -1;
    memset(q->asked_ns, 0, sizeof q->asked_ns);
    if (status == 0 && q->consume)
        status = slot_claim(q);
    if (status == 0)
        q->known = q->wire.number;
    tracks_forget(q);
    q->renew_ns = RENEW_NS; /* a third of what the server says, once it has */
    if (q->wire.ack_timeout_ms > 0 && q->wire.ack_timeout_ms < RENEW_NS / 1000000 * 3)
        q->renew_ns = q->wire.ack_timeout_ms * 1000000 / 3;
    return status;
}

int rmq_ready(struct rmq *q)
{
    struct wire *w = &q->wire;
    int status = 0;

    if (q->known == w->number)
        q->alive_ns = w->heard_ns;
    if (w->c)
        (void)wire_pump(w); /* notices that it is gone */
    if (!w->c)
        status = wire_connect(w, &q->url, heartbeat_s(q));
    if (status == 0 && q->known != w->number)
        status = settle_in(q);
    if (status == 0 && q->consume)
        status = slot_receive(q);
    if (status != 0 && q->known != w->number)
        wire_drop(w); /* half-way: from the beginning */
    return rmq_tell(q, status);
}
