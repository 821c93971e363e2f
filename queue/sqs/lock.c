/* Locks: taken, checked and released. */
#include "queue/sqs/lock.h"

#include <string.h>

enum {
    RUN_S = 4 * 3600, /* what a copy has to run, at least */
    HOUR_MS = 3600 * 1000
};

/* When the message itself is shown again, or SQS deletes it. */
static int64_t ends_ms(const struct sqs_broker *q, const struct sq_hand *h)
{
    int64_t left = h->received_ns + SQ_HOP_S * SQ_S - sq_now();
    int64_t shown = sq_server_ms(q) + left / SQ_MS;
    int64_t gone = sq_hand_number(h, "SentTimestamp") + q->retention_ms - HOUR_MS;

    return q->retention_ms && gone < shown ? gone : shown;
}

bool sq_lock(struct sqs_broker *q, const struct sq_hand *h, struct sq_state *s)
{
    if (h->in_place) {
        s->lock = sq_hand_handle(h);
        s->lock_until_ms = ends_ms(q, h);
    }
    if (s->lock_until_ms - sq_server_ms(q) < s->wait_ms + RUN_S * INT64_C(1000))
        s->lock.len = 0;
    return s->lock.len > 0;
}

static int hide(struct sqs_broker *q, struct sq_value handle, int64_t until_ms,
                bool *ret_holds)
{
    struct sq_entry e = { .handle = handle,
                          .hide_s = (until_ms - sq_server_ms(q)) / 1000 };
    int status = 0;

    if (e.hide_s > 0)
        status = sq_hide(q, SQ_MAIN, &e, 1, 0);
    *ret_holds = e.done;
    return status;
}

int sq_lock_hide(struct sqs_broker *q, const struct sq_hand *h, bool *ret_holds)
{
    return hide(q, sq_hand_handle(h), ends_ms(q, h), ret_holds);
}

static struct sq_value lock_of(const struct sq_hand *h)
{
    return (struct sq_value){ h->lock, strlen(h->lock) };
}

int sq_lock_check(struct sqs_broker *q, const struct sq_hand *h, bool *ret_holds)
{
    *ret_holds = true;
    return h->lock ? hide(q, lock_of(h), h->lock_until_ms, ret_holds) : 0;
}

int sq_lock_release(struct sqs_broker *q, const struct sq_hand *h)
{
    struct sq_entry e = { .done = false };

    if (!h->lock)
        return 0;
    e.handle = lock_of(h);
    return sq_delete(q, SQ_MAIN, &e, 1, h->until_ns);
}
