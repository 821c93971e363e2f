/* The last decisions of each dependency and the last state changes of breakers,
 * for people to look at.
 *
 *     bide__journal_add(&journal, &event);
 *     const struct bide__entry *all[BIDE__JOURNAL_SHOWN];
 *     size_t n = bide__journal_list(&journal, NULL, all); // newest first
 *
 * A decision follows an attempt that failed, or is the refusal of a call before
 * its first. Each dependency has its own room, so that one in trouble does not
 * hide the others; and consecutive refusals for the same reason, as while a
 * breaker is open, are one entry with a count. */
#ifndef BIDE_OBSERVE_EVENT_JOURNAL_H
#define BIDE_OBSERVE_EVENT_JOURNAL_H

#include "observe/event/event.h"

enum {
    BIDE__JOURNAL = 32,       /* decisions of a dependency */
    BIDE__JOURNAL_DEPS = 512, /* the rest share the last one's */
    BIDE__JOURNAL_TURNS = 256,
    BIDE__JOURNAL_SHOWN = 128
};

struct bide__entry {
    uint64_t id;    /* never reused; newer ones are greater */
    uint64_t times; /* such calls in a row; 1 for a decision after an attempt */
    struct bide__event event;
};

/* A breaker changed state. */
struct bide__turn {
    int64_t at_ns;
    uint8_t from, to; /* bide_breaker_state */
    char dep[BIDE__DEP_NAME];
};

/* The decisions of one dependency. */
struct bide__pages {
    uint64_t n; /* ever */
    struct bide__entry entry[BIDE__JOURNAL];
};

/* All zero is an empty one. Threads: owned. */
struct bide__journal {
    uint64_t n_decisions, n_turns; /* ever */
    struct bide__pages *pages[BIDE__JOURNAL_DEPS];
    size_t n_pages;
    struct bide__turn turn[BIDE__JOURNAL_TURNS];
};

void bide__journal_add(struct bide__journal *j, const struct bide__event *e);
void bide__journal_done(struct bide__journal *j);

/* The newest decisions: as many of each dependency as fit, but all of `first`
 * (may be NULL). */
size_t bide__journal_list(const struct bide__journal *j, const char *first,
                          const struct bide__entry *ret[BIDE__JOURNAL_SHOWN]);

/* The state change `age` ago; 0 is the newest. */
size_t bide__journal_turns(const struct bide__journal *j);
const struct bide__turn *bide__journal_turn(const struct bide__journal *j,
                                            size_t age);

#endif
