/* The number of replications and the seed. */
#include "cmd/sim/plan.h"

#include "cmd/common/output.h"

struct sim_plan plan_for(const struct sim_ask *ask, const struct sim_model *m,
                         uint32_t usual)
{
    return (struct sim_plan){
        .model = m,
        .seed = ask->policy.seeded ? ask->policy.seed : m->seed,
        .threads = ask->threads,
        .replications = ask->replications ? ask->replications
                                          : sim_plan_replications(m, usual)
    };
}

int runs_fit(uint64_t points, const struct sim_plan *plan)
{
    uint64_t runs = sim_plan_runs(plan, points);

    if (runs <= SIM_PLAN_MOST)
        return -1;
    return complain("sim", "found %llu runs to make, expected at most %d",
                    (unsigned long long)runs, SIM_PLAN_MOST);
}
