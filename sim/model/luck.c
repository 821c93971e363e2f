/* The generator of one call: keyed by who, what and how often, not stepped. */
#include "sim/model/luck.h"

static uint64_t next(void *state)
{
    struct sim_luck *l = state;
    uint64_t what = sim_luck_what(SIM_LUCK_ENGINE, l->part, l->attempt);
    uint64_t draw = (uint64_t)l->draw++ << SIM_LUCK_DRAWS;
    return sim_luck_word(l->seed, l->client, l->call, what + draw);
}

bide_rng sim_luck_rng(struct sim_luck *luck)
{
    return (bide_rng){ next, luck };
}
