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
 * What is near lies in a heap, what is far in a wheel of eight levels of 64
 * slots, whose finest slot is 65 us wide. A slot whose time comes is poured into
 * the level below, or into the heap, which so stays as small as what happens in
 * 65 us, however much is pending. Slots are arrays: pouring one reads memory
 * front to back, where lists would miss the cache at every step. As long as
 * there is little on it all, the heap is all there is.
 *
 * Nothing can be taken off. Whoever no longer wants an event knows it again by
 * what it carries (a number of a generation, say) and ignores it.
 * Threads: owned. */
#ifndef BIDE_SIM_AGENDA_H
#define BIDE_SIM_AGENDA_H

#include <stdbool.h>
#include <stdint.h>

struct sim_world;

/* Something that acts when its time has come. */
struct sim_actor {
    void (*act)(struct sim_actor *self, struct sim_world *world, uint32_t a,
                uint32_t b);
    void *self; /* whatever it is part of */
};

struct sim_event {
    int64_t at_ns;
    uint64_t order;
    struct sim_actor *actor;
    uint32_t a, b; /* for the actor */
};

struct sim_slot {
    struct sim_event *list;
    uint32_t n, room;
};

enum { SIM_WHEEL_LEVELS = 8, SIM_WHEEL_SLOTS = 64 };

struct sim_agenda {
    struct sim_slot heap;
    uint64_t order;     /* of the next to be put in */
    int64_t now_ns;     /* of the last that came out */
    uint64_t tick;      /* the wheel stands here */
    int64_t wheel_ns;   /* nothing on the wheel is earlier; INT64_MAX: empty */
    uint64_t n_wheel;
    uint64_t busy[SIM_WHEEL_LEVELS]; /* a bit for each slot that is not empty */
    struct sim_slot slot[SIM_WHEEL_LEVELS][SIM_WHEEL_SLOTS];
};

void sim_agenda_init(struct sim_agenda *a);
void sim_agenda_done(struct sim_agenda *a);

/* Puts an event on it; a time that has passed is taken for now. */
void sim_agenda_add(struct sim_agenda *a, int64_t at_ns,
                    struct sim_actor *actor, uint32_t x, uint32_t y);

/* Takes the next event off, unless it is later than `until_ns`. */
bool sim_agenda_pop(struct sim_agenda *a, int64_t until_ns,
                    struct sim_event *ret);

static inline uint64_t sim_agenda_pending(const struct sim_agenda *a)
{
    return a->heap.n + a->n_wheel;
}

#endif
