/* The agenda: what will happen when, in exact order.
 *
 *     struct sim_agenda agenda;
 *     sim_agenda_init(&agenda);
 *     sim_agenda_add(&agenda, at_ns, actor, a, b);
 *     while (sim_agenda_pop(&agenda, until_ns, &event))
 *         event.actor->act(event.actor, world, event.a, event.b);
 *     sim_agenda_done(&agenda);
 *
 * Events come out by time, and at the same nanosecond in the order in which
 * they were added: a run is a function of its seed.
 *
 * Near events are in a sorted list, far ones in a wheel of eight levels of 64
 * slots, whose finest slot is 65 us wide. A slot whose time comes is moved to
 * the level below, or to the list, which so stays as short as what happens in
 * 65 us, however much is pending; and for a short list nothing beats plain
 * sorting. If it gets long anyway, it becomes a heap until it is empty. A slot
 * is a chain of pieces of 31 events. Emptying one reads memory sequentially,
 * where a list of single events would miss the cache at every step; nothing is
 * copied as a slot grows; and a piece that has been read is reused while it is
 * still in the cache. As long as there are few events, only the list is used.
 *
 * Events cannot be removed. An actor that no longer wants an event recognizes
 * it by what it carries (a generation number, for example) and ignores it.
 * Threads: owned. */
#ifndef BIDE_SIM_WORLD_AGENDA_H
#define BIDE_SIM_WORLD_AGENDA_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/model/store.h"

struct sim_world;

/* Something that acts at a given time. */
struct sim_actor {
    void (*act)(struct sim_actor *self, struct sim_world *world, uint32_t a,
                uint32_t b);
    void *self; /* whatever it is part of */
    /* Prefetches what act() will need, some milliseconds ahead and then,
     * `soon`, once more: what the first finds will be there for the second.
     * Only for speed. NULL: it needs little. */
    void (*fetch)(const struct sim_actor *self, uint32_t a, uint32_t b,
                  bool soon);
};

struct sim_event {
    int64_t at_ns;
    uint64_t order;
    struct sim_actor *actor;
    uint32_t a, b; /* for the actor */
};

enum { SIM_PIECE = 31 }; /* a kilobyte with what is in front of them */

struct sim_piece {
    _Alignas(SIM_LINE) struct sim_piece *next;
    uint64_t unused[3]; /* an event must not straddle two cache lines */
    struct sim_event event[SIM_PIECE];
};

/* All pieces but the last are full. */
struct sim_slot {
    struct sim_piece *first, *last; /* undefined if there is nothing in it */
    struct sim_event *at, *end;     /* the room in the last */
    uint32_t n;                     /* events in all of it */
};

/* The near events: from `first` on, sorted; or a heap, and `first` is 0. */
struct sim_near {
    struct sim_event *list;
    uint32_t n, room;
    uint32_t first;
    bool heaped;
};

enum { SIM_FEW = 32 }; /* this many need no wheel */

enum { SIM_WHEEL_LEVELS = 8, SIM_WHEEL_SLOTS = 64 };

struct sim_agenda {
    struct sim_near near;
    uint64_t order;     /* of the next to be added */
    int64_t now_ns;     /* of the last that was taken */
    uint64_t tick;      /* the position of the wheel */
    int64_t wheel_ns;   /* nothing on the wheel is earlier; INT64_MAX: empty */
    uint64_t n_wheel;
    uint64_t busy[SIM_WHEEL_LEVELS]; /* a bit for each slot that is not empty */
    struct sim_slot slot[SIM_WHEEL_LEVELS][SIM_WHEEL_SLOTS];
    struct sim_piece *spare;  /* unused pieces */
    struct sim_store store;   /* of all pieces */
};

void sim_agenda_init(struct sim_agenda *a);
void sim_agenda_done(struct sim_agenda *a);

static inline uint32_t sim_near_count(const struct sim_near *near)
{
    return near->n - near->first;
}

static inline const struct sim_event *sim_near_first(const struct sim_near *near)
{
    return near->list + near->first;
}

/* The place in the list for an event that is added only now, and so comes after
 * all of the same time. There must be room. New events are mostly later than
 * those present: the search starts from the end. */
static inline struct sim_event *sim_near_place(struct sim_near *near,
                                               int64_t at_ns)
{
    struct sim_event *at = near->list + near->n++;
    const struct sim_event *front = sim_near_first(near);
    for (; at > front && at_ns < at[-1].at_ns; at--)
        *at = at[-1];
    return at;
}

/* Writes a new event in place: copying what was just written in smaller pieces
 * would stall the processor. */
static inline void sim_agenda_write(struct sim_agenda *a, struct sim_event *e,
                                    int64_t at_ns, struct sim_actor *actor,
                                    uint32_t x, uint32_t y)
{
    e->at_ns = at_ns;
    e->order = a->order++;
    e->actor = actor;
    e->a = x;
    e->b = y;
}

/* What add() does if the event does not simply go to the list. */
void sim_agenda_add_any(struct sim_agenda *a, int64_t at_ns,
                        struct sim_actor *actor, uint32_t x, uint32_t y);

/* Adds an event; a time in the past means now. */
static inline void sim_agenda_add(struct sim_agenda *a, int64_t at_ns,
                                  struct sim_actor *actor, uint32_t x,
                                  uint32_t y)
{
    const struct sim_near *near = &a->near;
    if (a->n_wheel != 0 || near->heaped || near->n == near->room ||
        sim_near_count(near) >= SIM_FEW || at_ns < a->now_ns) {
        sim_agenda_add_any(a, at_ns, actor, x, y);
        return;
    }
    sim_agenda_write(a, sim_near_place(&a->near, at_ns), at_ns, actor, x, y);
}

/* What pop() does if the next event is not simply the first of the list. */
bool sim_agenda_search(struct sim_agenda *a, int64_t until_ns,
                       struct sim_event *ret);

/* Takes the next event, unless it is later than `until_ns`. */
static inline bool sim_agenda_pop(struct sim_agenda *a, int64_t until_ns,
                                  struct sim_event *ret)
{
    const struct sim_event *next = sim_near_first(&a->near);
    if (a->near.heaped || sim_near_count(&a->near) == 0 ||
        next->at_ns >= a->wheel_ns || next->at_ns > until_ns)
        return sim_agenda_search(a, until_ns, ret);
    *ret = *next;
    a->now_ns = ret->at_ns;
    a->near.first++;
    return true;
}

static inline uint64_t sim_agenda_pending(const struct sim_agenda *a)
{
    return sim_near_count(&a->near) + a->n_wheel;
}

#endif
