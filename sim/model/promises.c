/* Promises in a ring, the earliest first. Those that come back come in about
 * that order, so that a search is short. */
#include "sim/model/promises.h"

#include <stdlib.h>
#include <string.h>

#include "bide/policy.h"
#include "sim/model/memory.h"

static struct sim_promised *at(const struct sim_promises *p, uint32_t i)
{
    return &p->ring[(p->first + i) & (p->room - 1)];
}

static struct sim_promised *find(const struct sim_promises *p, uint64_t name)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (at(p, i)->name == name)
            return at(p, i);
    return NULL;
}

void sim_promises_done(struct sim_promises *p)
{
    free(p->ring);
}

void sim_promise(struct sim_promises *p, uint64_t name, int64_t now,
                 int64_t at_ns)
{
    if (p->n == p->room) {
        uint32_t old = p->room;
        p->ring = sim_grow(p->ring, p->n, &p->room, sizeof *p->ring);
        memcpy(p->ring + old, p->ring, p->first * sizeof *p->ring);
    }
    *at(p, p->n++) =
        (struct sim_promised){ .name = name,
                               .at_ns = at_ns,
                               .until_ns =
                                   at_ns + (at_ns - now) / 8 + BIDE_SECOND };
}

int64_t sim_promise_find(const struct sim_promises *p, uint64_t name)
{
    const struct sim_promised *found = find(p, name);
    return found ? found->at_ns : -1;
}

void sim_promise_keep(struct sim_promises *p, uint64_t name)
{
    struct sim_promised *found = find(p, name);
    if (found)
        found->name = 0;
}

uint32_t sim_promises_due(const struct sim_promises *p, int64_t now)
{
    uint32_t due = 0;
    for (uint32_t i = 0; i < p->n && at(p, i)->at_ns <= now; i++)
        due += at(p, i)->name != 0;
    return due;
}

int64_t sim_promises_last(const struct sim_promises *p)
{
    return p->n > 0 ? at(p, p->n - 1)->at_ns : 0;
}

uint32_t sim_promises_lapse(struct sim_promises *p, int64_t now)
{
    uint32_t lapsed = 0;
    while (p->n > 0 && (at(p, 0)->name == 0 || at(p, 0)->until_ns < now)) {
        lapsed += at(p, 0)->name != 0;
        p->first = (p->first + 1) & (p->room - 1);
        p->n--;
    }
    return lapsed;
}
