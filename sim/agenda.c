/* The agenda: a heap for what is near, a wheel for what is far. */
#include "agenda.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum {
    TICK_BITS = 16,  /* the finest slot: 65.5 us */
    DIGIT_BITS = 6,  /* 64 slots */
    FEW = 64,        /* so many are no trouble to a heap */
    KEEP_ROOM = 256  /* of an emptied slot; more is given back */
};

/* Without a branch: it would go either way. */
static bool before(const struct sim_event *x, const struct sim_event *y)
{
    return (x->at_ns < y->at_ns) |
           ((x->at_ns == y->at_ns) & (x->order < y->order));
}

/* ===== heap ===== */

static void heap_add(struct sim_slot *h, const struct sim_event *e)
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
static void heap_pop(struct sim_slot *h)
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

/* ===== wheel ===== */

static uint64_t tick_of(int64_t at_ns)
{
    return (uint64_t)at_ns >> TICK_BITS;
}

/* An event lies on the level of the highest digit in which its tick differs from
 * the wheel's. */
static void wheel_add(struct sim_agenda *a, const struct sim_event *e)
{
    uint64_t tick = tick_of(e->at_ns);
    int level = (63 - __builtin_clzll(tick ^ a->tick)) / DIGIT_BITS;
    unsigned digit = (tick >> (level * DIGIT_BITS)) % SIM_WHEEL_SLOTS;
    struct sim_slot *s = &a->slot[level][digit];
    s->list = sim_grow(s->list, s->n, &s->room, sizeof *s->list);
    s->list[s->n++] = *e;
    a->busy[level] |= UINT64_C(1) << digit;
    a->n_wheel++;
}

/* The first slot that is not empty: on the lowest level that has any, for all
 * of a level lies before all of the next. */
static bool first_slot(const struct sim_agenda *a, int *level, unsigned *digit)
{
    for (*level = 0; *level < SIM_WHEEL_LEVELS; ++*level) {
        if (a->busy[*level]) {
            *digit = (unsigned)__builtin_ctzll(a->busy[*level]);
            return true;
        }
    }
    return false;
}

static uint64_t slot_tick(const struct sim_agenda *a, int level, unsigned digit)
{
    int shift = level * DIGIT_BITS;
    uint64_t above = a->tick >> shift >> DIGIT_BITS << DIGIT_BITS;
    return (above | digit) << shift;
}

static void note_first(struct sim_agenda *a)
{
    int level;
    unsigned digit;
    a->wheel_ns = INT64_MAX;
    if (first_slot(a, &level, &digit))
        a->wheel_ns = (int64_t)(slot_tick(a, level, digit) << TICK_BITS);
}

/* Turns the wheel to its first slot, and empties that. */
static void pour(struct sim_agenda *a)
{
    int level;
    unsigned digit;
    if (!first_slot(a, &level, &digit))
        return;
    struct sim_slot *s = &a->slot[level][digit];
    a->tick = slot_tick(a, level, digit);
    a->busy[level] &= ~(UINT64_C(1) << digit);
    a->n_wheel -= s->n;
    for (uint32_t i = 0; i < s->n; i++) {
        if (tick_of(s->list[i].at_ns) == a->tick)
            heap_add(&a->heap, &s->list[i]);
        else
            wheel_add(a, &s->list[i]);
    }
    s->n = 0;
    if (s->room > KEEP_ROOM) {
        free(s->list);
        s->list = NULL;
        s->room = 0;
    }
    note_first(a);
}

/* ===== the agenda ===== */

void sim_agenda_init(struct sim_agenda *a)
{
    memset(a, 0, sizeof *a);
    a->wheel_ns = INT64_MAX;
}

void sim_agenda_done(struct sim_agenda *a)
{
    free(a->heap.list);
    for (int i = 0; i < SIM_WHEEL_LEVELS; i++)
        for (int j = 0; j < SIM_WHEEL_SLOTS; j++)
            free(a->slot[i][j].list);
}

void sim_agenda_add(struct sim_agenda *a, int64_t at_ns,
                    struct sim_actor *actor, uint32_t x, uint32_t y)
{
    if (at_ns < a->now_ns)
        at_ns = a->now_ns;
    struct sim_event e = { at_ns, a->order++, actor, x, y };
    if (a->n_wheel == 0)
        a->tick = tick_of(a->now_ns);
    if (a->heap.n < FEW || tick_of(at_ns) <= a->tick) {
        heap_add(&a->heap, &e);
        return;
    }
    wheel_add(a, &e);
    int64_t start = (int64_t)(tick_of(at_ns) << TICK_BITS);
    if (start < a->wheel_ns) /* its slot may begin earlier than itself */
        note_first(a);
}

bool sim_agenda_pop(struct sim_agenda *a, int64_t until_ns,
                    struct sim_event *ret)
{
    while (a->n_wheel != 0 && (a->heap.n == 0 ||
                               a->heap.list[0].at_ns >= a->wheel_ns))
        pour(a);
    if (a->heap.n == 0 || a->heap.list[0].at_ns > until_ns)
        return false;
    *ret = a->heap.list[0];
    a->now_ns = ret->at_ns;
    heap_pop(&a->heap);
    return true;
}
