/* The number of replications of a model, and of runs of a plan. */
#include "sim/study/plan.h"

/* A rough estimate of the calls in a run. */
static double calls_of(const struct sim_model *m)
{
    double all = 0, s = (double)m->duration_ns / 1e9;

    for (uint32_t i = 0; i < m->n_fleets; i++) {
        const struct sim_model_fleet *f = &m->fleets[i];
        double pause_s = sim_dist_mean(&f->think) / 1e9 + 0.1;

        all += f->arrival == SIM_OPEN ? sim_fleet_rate(f, m->duration_ns) * s
               : f->arrival == SIM_CLOSED ? f->clients * s / pause_s
               : f->arrival == SIM_CRON
                   ? f->clients * (s * 1e9 / (double)f->every_ns + 1)
                   : (double)f->n_replay;
    }
    return all;
}

uint32_t sim_plan_replications(const struct sim_model *m, uint32_t usual)
{
    enum { WORTH_WAITING_FOR = 10000000 }; /* calls: some seconds */
    double calls = calls_of(m) * sim_model_runs(m);
    double fit = WORTH_WAITING_FOR / (calls > 1 ? calls : 1);

    return fit < 1 ? 1 : fit < usual ? (uint32_t)fit : usual;
}

uint64_t sim_plan_runs(const struct sim_plan *plan, uint64_t points)
{
    return points * sim_model_runs(plan->model) * plan->replications;
}
