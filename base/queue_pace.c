/* Pausing, probing, and rising again. */
#include "base/queue_pace.h"

#include "bide/policy.h"

void queue_pace_init(struct queue_pace *p, uint32_t most)
{
    *p = (struct queue_pace){ .state = QUEUE_FLOWING,
                              .most = most,
                              .errors_ns = BIDE_FOREVER };
}

/* A step is taken when its time has come and the handler has answered in the
 * one before. */
static void rise(struct queue_pace *p, int64_t now)
{
    if (p->state != QUEUE_RISING || now < p->at_ns || !p->answered)
        return;
    p->limit = p->limit > p->most / 2 ? p->most : 2 * p->limit;
    p->answered = false;
    p->at_ns = now + QUEUE_RISE_STEP;
    if (p->limit >= p->most) {
        p->state = QUEUE_FLOWING;
        p->since_ns = now;
    }
}

uint32_t queue_pace_room(struct queue_pace *p, uint32_t running, int64_t now)
{
    uint32_t limit = p->most;

    rise(p, now);
    if (p->state == QUEUE_PAUSED)
        limit = now >= p->at_ns;
    else if (p->state == QUEUE_RISING)
        limit = p->limit;
    return running < limit ? limit - running : 0;
}

uint32_t queue_pace_retries(const struct queue_pace *p, uint32_t most)
{
    return most / 2 + (most % 2 && !p->others_next);
}

void queue_pace_took(struct queue_pace *p, uint32_t most)
{
    if (most % 2)
        p->others_next = !p->others_next;
}

int64_t queue_pace_next(const struct queue_pace *p, uint32_t running)
{
    if (p->state == QUEUE_FLOWING || (p->state == QUEUE_PAUSED && running > 0))
        return BIDE_FOREVER;
    return p->state == QUEUE_RISING && !p->answered ? BIDE_FOREVER : p->at_ns;
}

static int64_t spread(int64_t ns, const bide_rng *rng)
{
    return ns + bide_rng_between(rng, 0, ns / 4);
}

bool queue_pace_down(struct queue_pace *p, int64_t started, int64_t not_before,
                     const bide_rng *rng, int64_t now)
{
    bool begins = p->state != QUEUE_PAUSED;

    if (!begins && started < p->since_ns) {
        if (not_before > p->at_ns)
            p->at_ns = not_before;
        return false;
    }
    if (begins) {
        if (p->state == QUEUE_FLOWING)
            p->spacing_ns = QUEUE_PROBE_FIRST;
        p->state = QUEUE_PAUSED;
        p->since_ns = now;
    }
    p->at_ns = now + spread(p->spacing_ns, rng);
    p->spacing_ns = p->spacing_ns > QUEUE_PROBE_MOST / 2 ? QUEUE_PROBE_MOST
                                                         : 2 * p->spacing_ns;
    if (not_before > p->at_ns)
        p->at_ns = not_before;
    return begins;
}

void queue_pace_errs(struct queue_pace *p, bool answered, int64_t now)
{
    if (!answered || p->state != QUEUE_PAUSED)
        p->errors_ns = BIDE_FOREVER;
    else if (p->errors_ns == BIDE_FOREVER)
        p->errors_ns = now;
}

enum queue_probe queue_pace_probe(const struct queue_pace *p, int64_t now)
{
    if (p->state != QUEUE_PAUSED)
        return QUEUE_NO_PROBE;
    return p->errors_ns <= now - QUEUE_DOUBT ? QUEUE_COUNTED_PROBE
                                             : QUEUE_FREE_PROBE;
}

bool queue_pace_good(struct queue_pace *p, int64_t started, int64_t now)
{
    if (p->state == QUEUE_FLOWING || started < p->since_ns)
        return false;
    p->answered = true;
    if (p->state == QUEUE_RISING)
        return false;
    p->state = QUEUE_RISING;
    p->since_ns = now;
    p->errors_ns = BIDE_FOREVER;
    p->limit = 1;
    p->at_ns = now + QUEUE_RISE_STEP;
    return true;
}
