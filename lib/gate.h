/* The gate: where calls wait while nothing accepts a connection.
 *
 * An attempt that provably never reached the dependency (refused, no name, no
 * route, not accepted in time) asked it for no work. It costs no attempt and no
 * budget, and says nothing to the breaker. It only shows that there is nobody
 * there, most likely because of a restart. So the calls wait together:
 *
 *           missed, and missed again a moment later
 *   OPEN ---------------------------------------------> SHUT
 *    ^                                                  |  ^
 *    '---- all have gone ---- RAMP <---- reached -------'  | missed again
 *                              '---------------------------'
 *
 *   OPEN   attempts go as they come.
 *   SHUT   one attempt at a time, the knock, finds out whether the dependency
 *          is back. Knocks come quickly at first, then about four in the time
 *          that has passed, at least one every unreachable.knock. Calls wait
 *          until unreachable.wait after the gate was shut; from then on they are
 *          refused, except those that knock.
 *   RAMP   it is back. Those that waited go in the order in which they came,
 *          at two tenths of the pace; new calls pass. So the dependency gets
 *          about 1.2 times its usual load, which one that is busy for 80 % of
 *          its time can still serve (docs/defaults.md).
 *
 * One failed connection does not shut it: behind one name there may be many
 * servers, of which some are down. It takes a second one, at least
 * bide__gate_doubt() after the first, with none that was reached in between.
 *
 * Each word is changed by itself. `control` decides, by compare-and-swap; the
 * others are written before it, by threads that would write nearly the same, and
 * only set the pace. Who knocks is one compare-and-swap of `knock_at_ns`; a
 * knock that never reports is replaced when its time is over. */
#ifndef BIDE_LIB_GATE_H
#define BIDE_LIB_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bide/rng.h"
#include "lib/policy.h"

enum bide__gate_state { BIDE__GATE_OPEN, BIDE__GATE_SHUT, BIDE__GATE_RAMP };
enum { BIDE__GATE_STATE = 3 }; /* its bits in `control` */

struct bide__gate {
    _Atomic uint64_t control;     /* since when (62 bits) | state (2): the time
                                     tells one opening from the next */
    _Atomic int64_t doubt_ns;     /* a connection failed then; 0: none since one
                                     was reached */
    _Atomic int64_t knock_at_ns;  /* SHUT: the next knock; while one is under
                                     way, when it is given up for lost */
    _Atomic int64_t spacing_ns;   /* RAMP: between two calls that waited */
    _Atomic uint32_t tickets;     /* issued to calls that wait */
    _Atomic uint32_t first;       /* the first that has not gone */
    _Atomic uint32_t shut_at;     /* `tickets`, when it was shut */
};

enum bide__gate_verb {
    BIDE__GATE_GO,
    BIDE__GATE_KNOCK,  /* go: this attempt is the knock */
    BIDE__GATE_WAIT,   /* ask again at at_ns */
    BIDE__GATE_REFUSE  /* it has been shut for too long */
};

struct bide__gate_answer {
    enum bide__gate_verb verb;
    int64_t at_ns;
};

/* A call that waits, as the gate knows it. */
struct bide__gate_place {
    bool taken;
    uint32_t ticket;
};

/* Whether attempts have to ask. False, at the cost of a load, nearly always. */
static inline bool bide__gate_busy(const struct bide__gate *g)
{
    return (atomic_load_explicit(&g->control, memory_order_relaxed) &
            BIDE__GATE_STATE) != BIDE__GATE_OPEN;
}

/* Whether nothing has failed to connect since something did. */
static inline bool bide__gate_calm(const struct bide__gate *g)
{
    return !bide__gate_busy(g) &&
           atomic_load_explicit(&g->doubt_ns, memory_order_relaxed) == 0;
}

/* How long one failed connection is only a doubt, and about how long a call
 * waits after it. */
int64_t bide__gate_doubt(const struct bide__policy *p);

/* May this call make an attempt? Gives it a place if it has to wait. */
struct bide__gate_answer bide__gate_ask(struct bide__gate *g,
                                        const struct bide__policy *p,
                                        const bide_rng *rng,
                                        struct bide__gate_place *place,
                                        int64_t now);

/* An attempt that began at start_ns found nobody. */
void bide__gate_missed(struct bide__gate *g, const struct bide__policy *p,
                       const bide_rng *rng, bool knock, int64_t start_ns,
                       int64_t now);

/* An attempt that began at start_ns reached the dependency, whatever came of
 * it. */
void bide__gate_reached(struct bide__gate *g, int64_t start_ns, int64_t now);

/* A knock that began at start_ns was not made, or ended without a result: the
 * next call may knock. */
void bide__gate_unknock(struct bide__gate *g, int64_t start_ns, int64_t now);

/* Whether a call that began at begin_ns, and found nobody, may wait. */
bool bide__gate_waits(const struct bide__gate *g, const struct bide__policy *p,
                      int64_t begin_ns, int64_t now);

/* When a new call may do better: about the next knock; 0 if the gate is not
 * shut. */
int64_t bide__gate_next_knock(const struct bide__gate *g,
                              const struct bide__policy *p, int64_t now);

/* Since when it has been shut; 0 if it is not. */
int64_t bide__gate_shut_since(const struct bide__gate *g);

/* For how long it has been shut, if calls have knocked lately; else 0: it stays
 * shut when the calls end, and nobody finds out whether somebody is back. */
int64_t bide__gate_shut_for(const struct bide__gate *g, int64_t now);

#endif
