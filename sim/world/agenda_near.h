/* The near events of the agenda: a sorted list, or, once it is long, a heap.
 * For agenda.c alone; a header so that it is inlined there.
 *
 * Threads: owned. */
#ifndef BIDE_SIM_WORLD_AGENDA_NEAR_H
#define BIDE_SIM_WORLD_AGENDA_NEAR_H

#include <stdlib.h>
#include <string.h>

#include "sim/model/memory.h"
#include "sim/world/agenda.h"

enum { LONG = 48 }; /* a longer list becomes a heap */

/* Without a branch, which would be unpredictable. */
static bool before(const struct sim_event *x, const struct sim_event *y)
{
    return (x->at_ns < y->at_ns) |
           ((x->at_ns == y->at_ns) & (x->order < y->order));
}

/* ===== heap ===== */

static void heap_add(struct sim_near *h, const struct sim_event *e)
{
    h->list = sim_grow(h->list, h->n, &h->room, sizeof *h->list);
    uint32_t i = h->n++;
    while (i > 0 && before(e, &h->list[(i - 1) / 2])) {
        h->list[i] = h->list[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    h->list[i] = *e;
}

/* The hole at the top sinks to the bottom along the earlier children, and the
 * last event rises from there: it came from the bottom, and mostly stays. */
static void heap_pop(struct sim_near *h)
{
    struct sim_event *list = h->list;
    uint32_t n = --h->n, i = 0, child = 1;
    while (child + 1 < n) {
        child += before(&list[child + 1], &list[child]);
        list[i] = list[child];
        i = child;
        child = 2 * i + 1;
    }
    if (child < n) {
        list[i] = list[child];
        i = child;
    }
    while (i > 0 && before(&list[n], &list[(i - 1) / 2])) {
        list[i] = list[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    list[i] = list[n];
}

/* ===== the list ===== */

/* Makes room for one more. Removed events leave some in front: the rest is
 * moved there if that is half of the whole, so that few are moved per event
 * added. */
static void list_grow(struct sim_near *near)
{
    if (near->n == near->room && near->first > near->room / 2) {
        memmove(near->list, near->list + near->first,
                sim_near_count(near) * sizeof *near->list);
        near->n -= near->first;
        near->first = 0;
    }
    near->list =
        sim_grow(near->list, near->n, &near->room, sizeof *near->list);
}

/* New events are mostly later than those present: the search starts from the
 * end. */
static void list_add(struct sim_near *near, const struct sim_event *e)
{
    if (near->n == near->room)
        list_grow(near);
    struct sim_event *at = near->list + near->n++;
    const struct sim_event *front = sim_near_first(near);
    for (; at > front && before(e, at - 1); at--)
        *at = at[-1];
    *at = *e;
}

static void become_heap(struct sim_near *near) /* a sorted list is one */
{
    uint32_t n = sim_near_count(near);
    if (n > 0)
        memmove(near->list, near->list + near->first, n * sizeof *near->list);
    near->n = n;
    near->first = 0;
    near->heaped = true;
}

static void near_add(struct sim_near *near, const struct sim_event *e)
{
    if (!near->heaped && sim_near_count(near) > LONG)
        become_heap(near);
    if (near->heaped)
        heap_add(near, e);
    else
        list_add(near, e);
}

static void near_drop_first(struct sim_near *near)
{
    if (!near->heaped) {
        near->first++;
        return;
    }
    heap_pop(near);
    near->heaped = near->n > 0;
}

#endif
