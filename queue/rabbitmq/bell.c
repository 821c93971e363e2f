/* Bells: armed by who waits, silenced by who works. */
#include "queue/rabbitmq/bell.h"

#include <stdio.h>

#include "bide/run.h"
#include "queue/rabbitmq/track.h"

#define S INT64_C(1000000000)
#define POLL_NS (S / 2)

static int arm(struct rmq *q, int lane)
{
    char name[RMQ_NAME], tag[24];

    q->bell_of[lane] = ++q->last_bell * 32 + lane;
    snprintf(tag, sizeof tag, "%d", q->bell_of[lane]);
    amqp_basic_consume_t m = { .queue = wire_bytes(place_lane(q, lane, name)),
                               .consumer_tag = wire_bytes(tag),
                               .nowait = 1 };
    return wire_send(&q->wire, WIRE_BELL, AMQP_BASIC_CONSUME_METHOD, &m, false);
}

int bell_silence(struct rmq *q, int lane)
{
    char tag[24];

    snprintf(tag, sizeof tag, "%d", q->bell_of[lane]);
    amqp_basic_cancel_t m = { .consumer_tag = wire_bytes(tag), .nowait = 1 };
    q->bell_of[lane] = 0;
    q->flow = q->flow == lane ? -1 : q->flow;
    return wire_send(&q->wire, WIRE_BELL, AMQP_BASIC_CANCEL_METHOD, &m, false);
}

static int limit(struct rmq *q, size_t most)
{
    amqp_basic_qos_t m = { .prefetch_count = (uint16_t)most };

    return wire_send(&q->wire, WIRE_BELL, AMQP_BASIC_QOS_METHOD, &m, true);
}

/* The limit is that of consumers that begin after it. */
int bell_flow(struct rmq *q, int lane, size_t most)
{
    int status = limit(q, most);

    if (status == 0)
        status = arm(q, lane);
    if (status == 0)
        status = limit(q, 1);
    q->flow = status == 0 ? lane : -1;
    q->flow_most = most;
    return status;
}

/* Gives back what bells have brought: those of a lane, or all. */
static int give_back(struct rmq *q, int lane)
{
    size_t kept = 0;
    int status = 0;

    for (size_t i = 0; i < q->wire.n_in && status == 0; i++) {
        struct wire_in *in = &q->wire.in[i];
        if (in->channel == WIRE_BELL && (lane < 0 || in->consumer % 32 == lane)) {
            status = wire_requeue(&q->wire, in->channel, in->tag);
            wire_in_free(in);
        } else {
            q->wire.in[kept++] = *in;
        }
    }
    if (status == 0)
        q->wire.n_in = kept;
    return status;
}

int bell_ebb(struct rmq *q)
{
    int lane = q->flow;
    int status = bell_silence(q, lane);

    return status == 0 ? give_back(q, lane) : status;
}

static size_t n_rung(const struct rmq *q)
{
    size_t n = 0;

    for (size_t i = 0; i < q->wire.n_in; i++)
        n += q->wire.in[i].channel == WIRE_BELL;
    return n;
}

int bell_rest(struct rmq *q)
{
    int status = 0;

    if (bide_now_ns() - q->take_ns < S)
        return 0;
    q->hungry = false;
    for (int i = 0; i < LANES && status == 0; i++)
        if (q->bell_of[i])
            status = bell_silence(q, i);
    return status == 0 ? give_back(q, -1) : status;
}

/* Called by who is about to wait. */
int rmq_wait_fd(struct broker *b, int64_t *ret_poll_ns)
{
    struct rmq *q = (struct rmq *)b;

    *ret_poll_ns = POLL_NS;
    if (!q->wire.c || q->known != q->wire.number)
        return -1;
    for (int i = 0; i < LANES && q->hungry && q->wire.c; i++)
        if (!q->bell_of[i])
            (void)arm(q, i);
    if (!q->wire.c)
        return -1;
    if (n_rung(q) > 0 || (q->hungry && tracks_rang(q)))
        *ret_poll_ns = 0;
    return amqp_get_sockfd(q->wire.c);
}

void rmq_woken(struct broker *b)
{
    struct rmq *q = (struct rmq *)b;

    if (q->wire.c)
        (void)wire_pump(&q->wire); /* what failed is found by the next verb */
}
