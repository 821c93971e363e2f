/* Which endpoints are ejected, and how many may be.
 *
 * An endpoint takes one of its upstream's max_ejected places for the first
 * reason, and returns it with the last. Without a place it stays in use: a
 * fault that all endpoints share is not theirs, and sending nothing would help
 * no one. */
#include "proxy/back/endpoint.h"
#include "proxy/back/upstream.h"

/* The reasons that take a place. */
enum { JUDGED = EJECTED_BY_BREAKER | EJECTED_BY_HEALTH };

static bool take_place(struct upstream *u)
{
    unsigned out = atomic_load(&u->n_ejected);
    while (out < u->max_ejected)
        if (atomic_compare_exchange_weak(&u->n_ejected, &out, out + 1))
            return true;
    return false;
}

bool endpoint_eject(struct endpoint *e, enum ejected_by why)
{
    unsigned was = atomic_load(&e->ejected_by);
    bool placed = false;
    do {
        if (was & why)
            break;
        if (!(was & JUDGED) && !placed && !(placed = take_place(e->upstream)))
            return false;
    } while (!atomic_compare_exchange_weak(&e->ejected_by, &was, was | why));
    /* Another reason may have been quicker, with its own place. */
    if (placed && (was & JUDGED))
        atomic_fetch_sub(&e->upstream->n_ejected, 1);
    return true;
}

void endpoint_restore(struct endpoint *e, enum ejected_by why, int64_t now_ns)
{
    unsigned was = atomic_fetch_and(&e->ejected_by, ~(unsigned)why);
    if (!(was & why) || (was & JUDGED & ~(unsigned)why))
        return;
    atomic_store(&e->back_ns, now_ns);
    atomic_fetch_sub(&e->upstream->n_ejected, 1);
}

bool endpoint_missed(struct endpoint *e)
{
    return !(atomic_fetch_or(&e->ejected_by, EJECTED_BY_SILENCE) &
             EJECTED_BY_SILENCE);
}

void endpoint_found(struct endpoint *e, int64_t now_ns)
{
    atomic_fetch_and(&e->ejected_by, ~(unsigned)EJECTED_BY_SILENCE);
    atomic_store(&e->back_ns, now_ns);
}
