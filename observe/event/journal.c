/* Keeps the last decisions of each dependency in a ring, and merges repeated
 * refusals. */
#include "observe/event/journal.h"

#include <stdlib.h>
#include <string.h>

static const char *dep_of(const struct bide__event *e)
{
    return bide__event_get(e, BIDE__DEP);
}

static void add_turn(struct bide__journal *j, const struct bide__event *e)
{
    struct bide__turn *t = &j->turn[j->n_turns++ % BIDE__JOURNAL_TURNS];
    *t = (struct bide__turn){ e->end_ns, e->from, e->to, "" };
    memcpy(t->dep, dep_of(e), e->len[BIDE__DEP] + 1u);
}

/* The pages that begin with a decision of this dependency. */
static struct bide__pages *pages_of(struct bide__journal *j, const char *dep)
{
    for (size_t i = 0; i < j->n_pages; i++)
        if (strcmp(dep_of(&j->pages[i]->entry[0].event), dep) == 0)
            return j->pages[i];
    if (j->n_pages == BIDE__JOURNAL_DEPS)
        return j->pages[BIDE__JOURNAL_DEPS - 1];
    struct bide__pages *p = calloc(1, sizeof *p);
    if (p)
        j->pages[j->n_pages++] = p;
    return p;
}

/* Refused without an attempt, and so was the one before it, for the same
 * reason. */
static bool same_again(const struct bide__entry *last,
                       const struct bide__event *e)
{
    return e->kind == BIDE__EVENT_CALL &&
           last->event.kind == BIDE__EVENT_CALL &&
           last->event.reason == e->reason &&
           strcmp(dep_of(&last->event), dep_of(e)) == 0;
}

static void add_decision(struct bide__journal *j, const struct bide__event *e)
{
    struct bide__pages *p = pages_of(j, dep_of(e));
    if (!p)
        return;
    struct bide__entry *last =
        p->n ? &p->entry[(p->n - 1) % BIDE__JOURNAL] : NULL;
    bool again = last && same_again(last, e);
    struct bide__entry *to = again ? last : &p->entry[p->n++ % BIDE__JOURNAL];
    to->times = again ? last->times + 1 : 1;
    to->id = again ? last->id : ++j->n_decisions;
    to->event = *e;
}

void bide__journal_add(struct bide__journal *j, const struct bide__event *e)
{
    if (e->kind == BIDE__EVENT_BREAKER)
        add_turn(j, e);
    else if (bide__event_decides(e))
        add_decision(j, e);
}

void bide__journal_done(struct bide__journal *j)
{
    for (size_t i = 0; i < j->n_pages; i++)
        free(j->pages[i]);
    j->n_pages = 0;
}

/* ===== reading ===== */

static int newest_first(const void *a, const void *b)
{
    const struct bide__event *x = &(*(struct bide__entry *const *)a)->event;
    const struct bide__event *y = &(*(struct bide__entry *const *)b)->event;
    return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

/* The newest of some pages, at most `most`. */
static size_t take(const struct bide__pages *p, size_t most,
                   const struct bide__entry **ret)
{
    size_t n = 0;
    while (n < p->n && n < BIDE__JOURNAL && n < most) {
        ret[n] = &p->entry[(p->n - 1 - n) % BIDE__JOURNAL];
        n++;
    }
    return n;
}

static void sort(const struct bide__entry **list, size_t n)
{
    qsort(list, n, sizeof list[0], newest_first);
}

size_t bide__journal_list(const struct bide__journal *j, const char *first,
                          const struct bide__entry *ret[BIDE__JOURNAL_SHOWN])
{
    const struct bide__entry *others[BIDE__JOURNAL_SHOWN + BIDE__JOURNAL_DEPS];
    size_t n = 0, m = 0;
    size_t each = j->n_pages ? BIDE__JOURNAL_SHOWN / j->n_pages : 0;

    for (size_t i = 0; i < j->n_pages; i++) {
        const struct bide__pages *p = j->pages[i];
        if (first && strcmp(dep_of(&p->entry[0].event), first) == 0)
            n = take(p, BIDE__JOURNAL, ret);
        else
            m += take(p, each ? each : 1, others + m);
    }
    sort(others, m);
    for (size_t i = 0; i < m && n < BIDE__JOURNAL_SHOWN; i++)
        ret[n++] = others[i];
    sort(ret, n);
    return n;
}

size_t bide__journal_turns(const struct bide__journal *j)
{
    return j->n_turns < BIDE__JOURNAL_TURNS ? j->n_turns : BIDE__JOURNAL_TURNS;
}

const struct bide__turn *bide__journal_turn(const struct bide__journal *j,
                                            size_t age)
{
    return &j->turn[(j->n_turns - 1 - age) % BIDE__JOURNAL_TURNS];
}
