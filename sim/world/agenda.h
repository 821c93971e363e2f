/* The agenda: what will happen when, in exact order.
 *
 *     struct sim_agenda agenda;
 *     sim_agenda_init(&agenda);
 *     sim_agenda_add(&agenda, at_ns, actor, a, b);
 *     while (sim_agenda_pop(&agenda, until_ns, &event))
 *         event.actor->act(event.actor, world, event.a, event.b);
 *     sim_agenda_done(&agenda);
 *
 * Events come out by time, and at the same nanosecond in the order in which they
 * were put in: a run is a function of its seed.
 *
 * What is near lies in a sorted list, what is far in a wheel of eight levels of
 * 64 slots, whose finest slot is 65 us wide. A slot whose time comes is poured
 * into the level below, or into the list, which so stays as short as what happens
 * in 65 us, however much is pending; and a short list is sorted faster than
 * anything cleverer is. Should it get long all the same it becomes a heap, until
 * it is empty. A slot is a chain of pieces of 31 events. Pouring one reads memory
 * front to back, where a list of single events would miss the cache at every step;
 * nothing is copied as a slot grows; and a piece that has been read is written
 * anew while it still is in the cache. As long as there is little on it all, the
 * list is all there is.
 *
 * Nothing can be taken off. Whoever no longer wants an event knows it again by
 * what it carries (a number of a generation, say) and ignores it.
 * Threads: owned. */
#ifndef BIDE_SIM_WORLD_AGENDA_H
#define BIDE_SIM_WORLD_AGENDA_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/model/store.h"

struct sim_world;

/* Something that acts when its time has come. */
struct sim_actor {
    void (*act)(struct sim_actor *self, struct sim_world *world, uint32_t a,
                uint32_t b);
    void *self; /* whatever it is part of */
    /* Has the processor fetch what act() will need, some milliseconds ahead and
     * then, `soon`, once more: what is to be found by the first will be there by
     * the second. Only a matter of speed. NULL: it needs little. */
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
    uint64_t unused[3]; /* an event shall not lie on two lines of the cache */
    struct sim_event event[SIM_PIECE];
};

/* All pieces but the last are full. */
struct sim_slot {
    struct sim_piece *first, *last; /* undefined if there is nothing in it */
    struct sim_event *at, *end;     /* the room in the last */
    uint32_t n;                     /* events in all of it */
};

/* What is near: from `first` on, sorted; or a heap, and `first` is 0. */
struct sim_near {
    struct sim_event *list;
    uint32_t n, room;
    uint32_t first;
    bool heaped;
};

enum { SIM_FEW = 32 }; /* so many need no wheel */

enum { SIM_WHEEL_LEVELS = 8, SIM_WHEEL_SLOTS = 64 };

struct sim_agenda {
    struct sim_near near;
    uint64_t order;     /* of the next to be put in */
    int64_t now_ns;     /* of the last that came out */
    uint64_t tick;      /* the wheel stands here */
    int64_t wheel_ns;   /* nothing on the wheel is earlier; INT64_MAX: empty */
    uint64_t n_wheel;
    uint64_t busy[SIM_WHEEL_LEVELS]; /* a bit for each slot that is not empty */
    struct sim_slot slot[SIM_WHEEL_LEVELS][SIM_WHEEL_SLOTS];
    struct sim_piece *spare;  /* pieces that are not in use */
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

/* The place in the list for an event that is put in only now, and so comes after
 * all of the same time. There must be room. Events mostly come later than those
 * that are there: it is looked for from the end. */
static inline struct sim_event *sim_near_place(struct sim_near *near,
                                               int64_t at_ns)
{
    struct sim_event *at = near->list + near->n++;
    const struct sim_event *front = sim_near_first(near);
    for (; at > front && at_ns < at[-1].at_ns; at--)
        *at = at[-1];
    return at;
}

/* Writes a new event to where it stays: to copy what was just written in smaller
 * pieces would hold the processor up. */
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

/* Puts an event on it; a time that has passed is taken for now. */
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

/* Takes the next event off, unless it is later than `until_ns`. */
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
