/* Which endpoints are out, and how many may be.
 *
 * An endpoint takes one of its upstream's max_out places when the first reason
 * comes up, and leaves it with the last. Without a place it stays in use: a
 * fault that all endpoints share is none of theirs, and sending nothing helps
 * nobody. */
#include "proxy/state.h"

static bool take_place(struct upstream *u)
{
    unsigned out = atomic_load(&u->n_out);
    while (out < u->max_out)
        if (atomic_compare_exchange_weak(&u->n_out, &out, out + 1))
            return true;
    return false;
}

bool endpoint_put_out(struct endpoint *e, enum out_by why)
{
    unsigned was = atomic_load(&e->out_by);
    bool placed = false;
    do {
        if (was & why)
            break;
        if (was == 0 && !placed && !(placed = take_place(e->upstream)))
            return false;
    } while (!atomic_compare_exchange_weak(&e->out_by, &was, was | why));
    /* Another reason may have been quicker, with a place of its own. */
    if (placed && was != 0)
        atomic_fetch_sub(&e->upstream->n_out, 1);
    return true;
}

void endpoint_take_back(struct endpoint *e, enum out_by why, int64_t now_ns)
{
    unsigned was = atomic_fetch_and(&e->out_by, ~(unsigned)why);
    if (!(was & why) || (was & ~(unsigned)why))
        return;
    atomic_store(&e->back_ns, now_ns);
    atomic_fetch_sub(&e->upstream->n_out, 1);
}
