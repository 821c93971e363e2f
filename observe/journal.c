/* Two rings that forget. */
#include "journal.h"

#include <string.h>

static void add_turn(struct bide__journal *j, const struct bide__event *e)
{
    struct bide__turn *t = &j->turn[j->n_turns++ % BIDE__JOURNAL_TURNS];
    *t = (struct bide__turn){ e->end_ns, e->from, e->to, "" };
    memcpy(t->dep, e->dep, sizeof t->dep);
}

void bide__journal_add(struct bide__journal *j, const struct bide__event *e)
{
    if (e->kind == BIDE__EVENT_BREAKER)
        add_turn(j, e);
    else if (e->kind == BIDE__EVENT_ATTEMPT &&
             e->reason != BIDE_BECAUSE_SUCCESS)
        j->decision[j->n_decisions++ % BIDE__JOURNAL] = *e;
}

size_t bide__journal_decisions(const struct bide__journal *j)
{
    return j->n_decisions < BIDE__JOURNAL ? j->n_decisions : BIDE__JOURNAL;
}

const struct bide__event *bide__journal_decision(const struct bide__journal *j,
                                                 size_t age, uint64_t *ret_id)
{
    uint64_t id = j->n_decisions - 1 - age;
    *ret_id = id + 1;
    return &j->decision[id % BIDE__JOURNAL];
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
