/* hedge_play.h: the life of a hedged call as a table, see script.h. */
#ifndef BIDE_TEST_HEDGE_PLAY_H
#define BIDE_TEST_HEDGE_PLAY_H

#include "script.h"

/* Hedges after 50 ms, held back by nothing. */
static inline bide_policy_conf hedge_conf(uint32_t max)
{
    bide_policy_conf conf = script_conf();

    conf.attempts = 1;
    conf.hedge.max = max;
    conf.hedge.after_ns = 50 * MS;
    conf.hedge.extra_load = 1;
    return conf;
}

/* A dependency with room under the ceiling, as if it had had ten more calls. */
static inline bide_dep *hedge_dep(const bide_policy_conf *conf)
{
    bide_dep *dep = script_dep(conf);

    for (int i = 0; i < 10; i++)
        bide__window_add(&dep->lanes[0].calls, 0, 0);
    return dep;
}

#define PLAY_HEDGE(conf, op, ...)                                              \
    do {                                                                       \
        bide_dep *hedged = hedge_dep(conf);                                    \
        PLAY_ON(hedged, op, __VA_ARGS__);                                      \
        bide_dep_free(hedged);                                                 \
    } while (0)

static inline void expect_hedges(const bide_dep *dep, uint64_t sent,
                                 uint64_t won, uint64_t refused)
{
    bide_stats s = script_stats(dep, 0);

    assert_int_equal(s.hedges, sent);
    assert_int_equal(s.hedges_won, won);
    assert_int_equal(s.hedges_refused, refused);
    assert_int_equal(s.retries, 0);
}

#endif
