/* What is due, the earliest first: a binary heap by time, then by order of
 * arrival, so that ties are broken the same way in each run.
 *
 * A timer is never removed early. When it fires, its call's serial and whether
 * it is still the current one are checked. */
#include "replay/timers.h"

#include <stdlib.h>

static bool earlier(const struct replay_timer *a, const struct replay_timer *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->seq < b->seq;
}

static bool grow(struct replay_timers *t)
{
    size_t capacity = t->capacity ? 2 * t->capacity : 256;
    void *heap = realloc(t->heap, capacity * sizeof t->heap[0]);
    if (!heap)
        return false;
    t->heap = heap;
    t->capacity = capacity;
    return true;
}

/* Assigns the timer the next number, which is then in t->seq. */
bool replay_timers_add(struct replay_timers *t, struct replay_timer timer)
{
    if (t->n == t->capacity && !grow(t))
        return false;
    timer.seq = ++t->seq;
    size_t i = t->n++;
    while (i > 0 && earlier(&timer, &t->heap[(i - 1) / 2])) {
        t->heap[i] = t->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    t->heap[i] = timer;
    return true;
}

bool replay_timers_due(const struct replay_timers *t, int64_t until_ns)
{
    return t->n != 0 && t->heap[0].at_ns <= until_ns;
}

struct replay_timer replay_timers_take(struct replay_timers *t)
{
    struct replay_timer first = t->heap[0];
    struct replay_timer last = t->heap[--t->n];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= t->n)
            break;
        if (child + 1 < t->n && earlier(&t->heap[child + 1], &t->heap[child]))
            child++;
        if (!earlier(&t->heap[child], &last))
            break;
        t->heap[i] = t->heap[child];
        i = child;
    }
    if (t->n != 0)
        t->heap[i] = last;
    return first;
}

void replay_timers_done(struct replay_timers *t)
{
    free(t->heap);
    *t = (struct replay_timers){ 0 };
}
