/* The agenda: a list for the near future, a wheel for the far one. */
#include "sim/world/agenda.h"

#include <stdlib.h>
#include <string.h>

#include "sim/model/memory.h"
#include "sim/world/agenda_near.h"

enum {
    TICK_BITS = 16,  /* the finest slot: 65.5 us */
    DIGIT_BITS = 6,  /* 64 slots */
    SHORT = 24,      /* as many go to the list at once, from any level */
    AHEAD = 4        /* events: two lines of the cache */
};

/* ===== pieces ===== */

static struct sim_piece *take_piece(struct sim_agenda *a)
{
    struct sim_piece *piece = a->spare;
    if (!piece)
        return sim_store_take(&a->store, sizeof *piece);
    a->spare = piece->next;
    piece->next = NULL;
    return piece;
}

static void add_piece(struct sim_agenda *a, struct sim_slot *s)
{
    struct sim_piece *piece = take_piece(a);
    if (s->n == 0)
        s->first = piece;
    else
        s->last->next = piece;
    s->last = piece;
    s->at = piece->event;
    s->end = piece->event + SIM_PIECE;
}

/* Makes room at the end of a slot. The next place is prefetched: it will be
 * needed soon, and a write that waits for memory delays the engine's
 * atomics. */
static struct sim_event *slot_room(struct sim_agenda *a, struct sim_slot *s)
{
    if (s->at == s->end)
        add_piece(a, s);
    s->n++;
    __builtin_prefetch(s->at + AHEAD, 1);
    return s->at++;
}

/* ===== wheel ===== */

static uint64_t tick_of(int64_t at_ns)
{
    return (uint64_t)at_ns >> TICK_BITS;
}

/* Makes room for an event on the wheel: on the level of the highest digit in
 * which its tick differs from the wheel's. */
static struct sim_event *wheel_room(struct sim_agenda *a, int64_t at_ns)
{
    uint64_t tick = tick_of(at_ns);
    int level = (63 - __builtin_clzll(tick ^ a->tick)) / DIGIT_BITS;
    unsigned digit = (tick >> (level * DIGIT_BITS)) % SIM_WHEEL_SLOTS;
    a->busy[level] |= UINT64_C(1) << digit;
    a->n_wheel++;
    return slot_room(a, &a->slot[level][digit]);
}

/* The first non-empty slot: on the lowest level that has any, since all of a
 * level lies before all of the next. */
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

static void fetch(const struct sim_event *e, bool soon)
{
    if (e->actor && e->actor->fetch)
        e->actor->fetch(e->actor, e->a, e->b, soon);
}

/* Moves events of a slot to the level below, or to the list, while those of the
 * next piece are prefetched. */
static void move_down(struct sim_agenda *a, int level,
                      const struct sim_piece *piece, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct sim_event *e = &piece->event[i];
        if (piece->next)
            __builtin_prefetch(&piece->next->event[i]);
        if (level <= 1)
            fetch(e, level == 0);
        if (tick_of(e->at_ns) <= a->tick)
            near_add(&a->near, e);
        else
            *wheel_room(a, e->at_ns) = *e;
    }
}

/* Advances the wheel to its first slot, and empties that. */
static void pour(struct sim_agenda *a)
{
    int level;
    unsigned digit;
    if (!first_slot(a, &level, &digit))
        return;
    struct sim_slot s = a->slot[level][digit];
    a->slot[level][digit] = (struct sim_slot){ 0 };
    a->tick = slot_tick(a, level, digit);
    a->busy[level] &= ~(UINT64_C(1) << digit);
    a->n_wheel -= s.n;
    if (sim_near_count(&a->near) + s.n <= SHORT) /* to the end of the slot */
        a->tick |= (UINT64_C(1) << (level * DIGIT_BITS)) - 1;
    if (level == 0 && !a->near.heaped && sim_near_count(&a->near) + s.n > LONG)
        become_heap(&a->near);
    for (struct sim_piece *piece = s.first, *next; s.n > 0; piece = next) {
        uint32_t n = s.n < SIM_PIECE ? s.n : SIM_PIECE;
        next = piece->next;
        move_down(a, level, piece, n);
        piece->next = a->spare;
        a->spare = piece;
        s.n -= n;
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
    free(a->near.list);
    sim_store_done(&a->store);
}

void sim_agenda_add_any(struct sim_agenda *a, int64_t at_ns,
                        struct sim_actor *actor, uint32_t x, uint32_t y)
{
    if (at_ns < a->now_ns)
        at_ns = a->now_ns;
    if (a->n_wheel == 0 && sim_near_count(&a->near) < SIM_FEW &&
        !a->near.heaped) {
        if (a->near.n == a->near.room)
            list_grow(&a->near);
        sim_agenda_write(a, sim_near_place(&a->near, at_ns), at_ns, actor, x,
                         y);
        return;
    }
    if (a->n_wheel == 0)
        a->tick = tick_of(a->now_ns);
    if (tick_of(at_ns) <= a->tick) {
        struct sim_event e = { at_ns, a->order++, actor, x, y };
        near_add(&a->near, &e);
        return;
    }
    sim_agenda_write(a, wheel_room(a, at_ns), at_ns, actor, x, y);
    int64_t start = (int64_t)(tick_of(at_ns) << TICK_BITS);
    if (start < a->wheel_ns) /* its slot may begin before it does */
        note_first(a);
}

bool sim_agenda_search(struct sim_agenda *a, int64_t until_ns,
                       struct sim_event *ret)
{
    struct sim_near *near = &a->near;
    if (sim_near_count(near) == 0)
        near->first = near->n = 0;
    while (a->n_wheel != 0 && (sim_near_count(near) == 0 ||
                               sim_near_first(near)->at_ns >= a->wheel_ns))
        pour(a);
    if (sim_near_count(near) == 0 || sim_near_first(near)->at_ns > until_ns)
        return false;
    *ret = *sim_near_first(near);
    a->now_ns = ret->at_ns;
    near_drop_first(near);
    return true;
}
