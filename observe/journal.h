/* The last decisions and the last turns of breakers, for people to look at.
 *
 *     bide__journal_add(&journal, &event);
 *     for (size_t age = 0; age < bide__journal_decisions(&journal); age++)
 *         show(bide__journal_decision(&journal, age, &id));
 *
 * Attempts that succeeded are not decisions, and are not kept. */
#ifndef BIDE_OBSERVE_JOURNAL_H
#define BIDE_OBSERVE_JOURNAL_H

#include "event.h"

enum { BIDE__JOURNAL = 128, BIDE__JOURNAL_TURNS = 256 };

/* A breaker went from one state to another. */
struct bide__turn {
    int64_t at_ns;
    uint8_t from, to; /* bide_breaker_state */
    char dep[48];
};

/* All zero is an empty one. Threads: owned. */
struct bide__journal {
    uint64_t n_decisions, n_turns; /* ever */
    struct bide__event decision[BIDE__JOURNAL];
    struct bide__turn turn[BIDE__JOURNAL_TURNS];
};

void bide__journal_add(struct bide__journal *j, const struct bide__event *e);

/* How many are kept, and the one that came `age` ago; 0 is the newest. A
 * decision's number stays its own. */
size_t bide__journal_decisions(const struct bide__journal *j);
const struct bide__event *bide__journal_decision(const struct bide__journal *j,
                                                 size_t age, uint64_t *ret_id);
size_t bide__journal_turns(const struct bide__journal *j);
const struct bide__turn *bide__journal_turn(const struct bide__journal *j,
                                            size_t age);

#endif
