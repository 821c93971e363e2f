/* The timer wheel; wheel.h explains how it works. */
#include "run/wheel.h"

#include "bide/backoff.h"

enum { DIGIT_BITS = 6, DIGIT_MASK = BIDE__WHEEL_SLOTS - 1 };

static struct bide__timer *timer_of(struct bide__list *slot)
{
    return bide__container_of(slot, struct bide__timer, slot);
}

/* ===== the position of a timer ===== */

void bide__wheel_init(struct bide__wheel *w, int64_t now_ns,
                      int64_t resolution_ns)
{
    w->resolution_ns = resolution_ns;
    w->tick = (uint64_t)(now_ns / resolution_ns);
    w->n = 0;
    for (int level = 0; level < BIDE__WHEEL_LEVELS; level++) {
        w->busy[level] = 0;
        for (int slot = 0; slot < BIDE__WHEEL_SLOTS; slot++)
            bide__list_init(&w->slot[level][slot]);
    }
    bide__list_init(&w->due);
}

/* The first tick at whose beginning the timer's time has come. */
static uint64_t tick_of(const struct bide__wheel *w, int64_t at_ns)
{
    return (uint64_t)(at_ns / w->resolution_ns) +
           (at_ns % w->resolution_ns != 0);
}

static void place(struct bide__wheel *w, struct bide__timer *t)
{
    uint64_t tick = tick_of(w, t->at_ns);
    if (tick <= w->tick) {
        bide__list_append(&w->due, &t->slot);
        return;
    }
    unsigned highest = 63u - (unsigned)__builtin_clzll(tick ^ w->tick);
    unsigned level = highest / DIGIT_BITS;
    unsigned slot = tick >> (level * DIGIT_BITS) & DIGIT_MASK;
    bide__list_append(&w->slot[level][slot], &t->slot);
    w->busy[level] |= UINT64_C(1) << slot;
}

void bide__wheel_set(struct bide__wheel *w, struct bide__timer *t,
                     int64_t at_ns)
{
    bide__wheel_cancel(w, t);
    if (at_ns == BIDE_FOREVER)
        return;
    t->at_ns = at_ns > 0 ? at_ns : 0;
    place(w, t);
    w->n++;
}

/* A slot that loses its last timer loses its bit. */
static void clear_bit(struct bide__wheel *w, const struct bide__timer *t)
{
    if (t->slot.next != t->slot.prev || t->slot.next == &w->due)
        return; /* others are left beside the head */
    ptrdiff_t i = t->slot.next - &w->slot[0][0];
    w->busy[i / BIDE__WHEEL_SLOTS] &= ~(UINT64_C(1) << (i % BIDE__WHEEL_SLOTS));
}

void bide__wheel_cancel(struct bide__wheel *w, struct bide__timer *t)
{
    if (!bide__timer_is_set(t))
        return;
    clear_bit(w, t);
    bide__list_remove(&t->slot);
    w->n--;
}

/* ===== time ===== */

/* The next tick at which a slot of this level is due. Slots in use always lie
 * ahead of the current digit: the digits above it are the same, and the timer
 * is later. */
static uint64_t next_turn(const struct bide__wheel *w, unsigned level)
{
    unsigned shift = level * DIGIT_BITS;
    if (w->busy[level] == 0)
        return UINT64_MAX;
    uint64_t slot = (uint64_t)__builtin_ctzll(w->busy[level]);
    uint64_t above = w->tick >> shift >> DIGIT_BITS << DIGIT_BITS;
    return (above | slot) << shift;
}

static uint64_t next_tick(const struct bide__wheel *w)
{
    uint64_t next = UINT64_MAX;
    for (unsigned level = 0; level < BIDE__WHEEL_LEVELS; level++) {
        uint64_t turn = next_turn(w, level);
        if (turn < next)
            next = turn;
    }
    return next;
}

/* Moves the timers of one slot: to a lower level, or to those due. */
static void cascade(struct bide__wheel *w, struct bide__list *head)
{
    while (!bide__list_empty(head)) {
        struct bide__timer *t = timer_of(head->next);
        bide__list_remove(&t->slot);
        place(w, t);
    }
}

/* Advances to a tick at which at least one slot is due. */
static void turn_to(struct bide__wheel *w, uint64_t tick)
{
    w->tick = tick;
    for (unsigned level = 0; level < BIDE__WHEEL_LEVELS; level++) {
        unsigned shift = level * DIGIT_BITS;
        if ((tick & ((UINT64_C(1) << shift) - 1)) != 0)
            break; /* in the middle of a slot of this level and all above */
        unsigned slot = tick >> shift & DIGIT_MASK;
        w->busy[level] &= ~(UINT64_C(1) << slot);
        cascade(w, &w->slot[level][slot]);
    }
}

int64_t bide__wheel_next(const struct bide__wheel *w)
{
    uint64_t tick = bide__list_empty(&w->due) ? next_tick(w) : w->tick;
    if (tick > (uint64_t)(BIDE_FOREVER / w->resolution_ns))
        return BIDE_FOREVER;
    return (int64_t)tick * w->resolution_ns;
}

struct bide__timer *bide__wheel_expired(struct bide__wheel *w, int64_t now_ns)
{
    uint64_t now = now_ns > 0 ? (uint64_t)(now_ns / w->resolution_ns) : 0;
    while (bide__list_empty(&w->due)) {
        uint64_t next = next_tick(w);
        if (next > now) {
            if (now > w->tick)
                w->tick = now;
            return NULL;
        }
        turn_to(w, next);
    }
    struct bide__timer *t = timer_of(w->due.next);
    bide__list_remove(&t->slot);
    w->n--;
    return t;
}
