/* Keeps a mark for each attempt of the sampled clients, from when it is sent
 * until its call is over. */
#include "sim/world/record_marks.h"

#include <stdlib.h>

#include "sim/model/memory.h"

#define NONE UINT32_MAX

void sim_marks_free(struct sim_marks *m)
{
    free(m->n_calls);
    free(m->calls);
    free(m->open);
    free(m->list);
}

/* ===== calls of the sample ===== */

static struct sim_marked_call *find(struct sim_marks *m, uint32_t slot)
{
    for (uint32_t i = 0; i < m->n_in_progress; i++)
        if (m->calls[i].slot == slot)
            return &m->calls[i];
    return NULL;
}

static struct sim_marked_call *meet(struct sim_marks *m, uint32_t slot,
                                    uint64_t client)
{
    struct sim_marked_call *known = find(m, slot);
    if (known)
        return known;
    if (!m->n_calls)
        m->n_calls = sim_new(m->clients, sizeof *m->n_calls);
    m->calls = sim_grow(m->calls, m->n_in_progress, &m->calls_room,
                        sizeof *m->calls);
    struct sim_marked_call *c = &m->calls[m->n_in_progress++];
    *c = (struct sim_marked_call){ slot, (uint32_t)client,
                                   m->n_calls[client / m->stride]++,
                                   NONE };
    return c;
}

/* ===== marks ===== */

static void put(struct sim_marks *m, struct sim_marked_call *c,
                uint32_t attempt, int64_t from, int64_t to,
                enum sim_mark_kind kind)
{
    if (m->n == SIM_MARKS_MOST)
        return;
    m->list = sim_grow(m->list, m->n, &m->room, sizeof *m->list);
    c->newest = m->n;
    m->list[m->n++] = (struct sim_mark){ .fleet = m->fleet,
                                         .client = c->client,
                                         .call = c->call,
                                         .attempt = attempt,
                                         .from_ns = from,
                                         .to_ns = to,
                                         .kind = kind };
}

void sim_marks_sent(struct sim_marks *m, uint32_t slot, uint64_t client,
                    uint32_t attempt, int64_t now)
{
    meet(m, slot, client);
    m->open = sim_grow(m->open, m->n_open, &m->open_room, sizeof *m->open);
    m->open[m->n_open++] = (struct sim_open_mark){ slot, attempt, now };
}

void sim_marks_ended(struct sim_marks *m, uint32_t slot, uint32_t attempt,
                     enum sim_mark_kind kind, int64_t now)
{
    struct sim_marked_call *c = find(m, slot);
    for (uint32_t i = 0; c && i < m->n_open; i++) {
        struct sim_open_mark o = m->open[i];
        if (o.slot != slot || o.attempt != attempt)
            continue;
        m->open[i] = m->open[--m->n_open];
        put(m, c, attempt, o.from_ns, now, kind);
        return;
    }
}

/* The reason goes to the attempt that decided: the newest, unless the call
 * ended while none was running; then to one that was never made. */
void sim_marks_done(struct sim_marks *m, uint32_t slot, uint64_t client,
                    uint32_t attempts, bide_reason reason, int64_t now)
{
    struct sim_marked_call *c = meet(m, slot, client);
    bool decided = c->newest != NONE && m->list[c->newest].to_ns == now;
    if (!decided)
        put(m, c, attempts + 1, now, now, SIM_MARK_REFUSED);
    uint32_t newest = c->newest;
    for (uint32_t i = m->n_open; i-- > 0;)
        if (m->open[i].slot == slot)
            sim_marks_ended(m, slot, m->open[i].attempt, SIM_MARK_LOST, now);
    if (newest != NONE) {
        m->list[newest].reason = reason;
        m->list[newest].last = true;
    }
    *c = m->calls[--m->n_in_progress];
}

void sim_marks_close(struct sim_marks *m, int64_t now)
{
    while (m->n_open > 0) {
        struct sim_open_mark o = m->open[0];
        sim_marks_ended(m, o.slot, o.attempt, SIM_MARK_OPEN, now);
    }
}
