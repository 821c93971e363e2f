/* How many replications, of what. */
#include "cmd/sim/cmd.h"

/* Calls that a run will see, roughly. */
static double calls_of(const struct sim_model *m)
{
    double all = 0, s = (double)m->duration_ns / 1e9;

    for (uint32_t i = 0; i < m->n_fleets; i++) {
        const struct sim_model_fleet *f = &m->fleets[i];
        double pause_s = sim_dist_mean(&f->think) / 1e9 + 0.1;

        all += f->arrival == SIM_OPEN     ? f->rate * s
               : f->arrival == SIM_CLOSED ? f->clients * s / pause_s
                                          : (double)f->n_replay;
    }
    return all;
}

struct sim_plan plan_for(const struct sim_ask *ask, const struct sim_model *m,
                         uint32_t usual)
{
    enum { WORTH_WAITING_FOR = 10000000 }; /* calls: some seconds */
    double calls = calls_of(m) * (m->n_variants ? m->n_variants : 1);
    double fit = WORTH_WAITING_FOR / (calls > 1 ? calls : 1);
    struct sim_plan plan = { .model = m, .threads = ask->threads };

    plan.seed = ask->policy.seeded ? ask->policy.seed : m->seed;
    plan.replications = ask->replications ? ask->replications
                        : fit < 1         ? 1
                        : fit < usual     ? (uint32_t)fit
                                          : usual;
    return plan;
}

int runs_fit(uint64_t points, const struct sim_plan *plan)
{
    enum { MOST_RUNS = 2000000 };
    uint64_t variants = plan->model->n_variants ? plan->model->n_variants : 1;
    uint64_t runs = points * variants * plan->replications;

    if (runs <= MOST_RUNS)
        return -1;
    return complain("sim", "found %llu runs to make, expected at most %d",
                    (unsigned long long)runs, MOST_RUNS);
}
