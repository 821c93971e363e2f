/* The counters of a caller: restarting them, and amplification. */
#include "sim/world/metrics.h"

void sim_metrics_restart(struct sim_metrics *m)
{
    uint64_t in_progress = m->in_progress, waiting = m->waiting;
    *m = (struct sim_metrics){ .in_progress = in_progress, .waiting = waiting };
}

double sim_metrics_amplification(const struct sim_metrics *m)
{
    return m->total.calls
               ? (double)sim_reached(&m->total) / (double)m->total.calls
               : 0;
}
