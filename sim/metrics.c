#include "metrics.h"

#include <stdlib.h>
#include <string.h>

#include "bide/policy.h"
#include "memory.h"

void sim_metrics_done(struct sim_metrics *m)
{
    free(m->seconds);
}

void sim_metrics_restart(struct sim_metrics *m)
{
    struct sim_metrics fresh = { .seconds = m->seconds,
                                 .n_seconds = m->n_seconds,
                                 .room = m->room };
    *m = fresh;
}

struct sim_second *sim_metrics_second(struct sim_metrics *m, int64_t now_ns)
{
    uint32_t i = (uint32_t)(now_ns / BIDE_SECOND);
    while (m->n_seconds <= i) {
        m->seconds = sim_grow(m->seconds, m->n_seconds, &m->room,
                              sizeof *m->seconds);
        m->seconds[m->n_seconds++] = (struct sim_second){ 0 };
    }
    return &m->seconds[i];
}

double sim_metrics_amplification(const struct sim_metrics *m)
{
    return m->calls ? (double)m->attempts / (double)m->calls : 0;
}

double sim_metrics_success(const struct sim_metrics *m, uint32_t from_s,
                           uint32_t to_s)
{
    uint64_t good = 0, all = 0;
    for (uint32_t i = from_s; i < to_s && i < m->n_seconds; i++) {
        good += m->seconds[i].successes;
        all += m->seconds[i].successes + m->seconds[i].failures;
    }
    return all ? (double)good / (double)all : 0;
}
