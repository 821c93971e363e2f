/* model.c: models, wherever they come from. */
#include "sim/model/model.h"

#include <stdlib.h>

#include "sim/model/memory.h"

void sim_model_free(struct sim_model *m)
{
    if (m && m->release)
        m->release(m->memory);
}

double sim_fleet_rate(const struct sim_model_fleet *f, int64_t duration_ns)
{
    if (f->arrival != SIM_OPEN)
        return 0;
    return f->load.n_steps == 0
               ? f->rate
               : sim_profile_mean(&f->load, f->rate, duration_ns);
}

void sim_fleet_scale(struct sim_model_fleet *f, double factor)
{
    f->rate *= factor;
    f->load.factor *= factor;
}

/* ===== what makes a model invalid ===== */

static const char *check_fleet(const struct sim_model *m,
                               const struct sim_model_fleet *f)
{
    if (f->clients == 0 || f->processes == 0 || f->processes > f->clients)
        return "a fleet needs clients, and no more processes than clients";
    if (f->service >= m->n_services || f->policy >= m->n_policies)
        return "a fleet calls a service, or by a policy, that is not there";
    if (f->arrival == SIM_OPEN && f->load.n_steps == 0 && !(f->rate > 0))
        return "an open fleet needs a rate";
    if (f->load.n_steps > 0 && !(f->load.factor > 0))
        return "a profile needs a factor";
    if (f->arrival == SIM_CRON && f->every_ns <= 0)
        return "clients that call by the clock need to know how often";
    if (f->queue.workers > 0 && f->queue.at_once == 0)
        return "a worker needs places";
    if (!(f->queue.poison >= 0 && f->queue.poison <= 1) ||
        !(f->queue.fails_first >= 0 && f->queue.fails_first <= 1))
        return "the share of messages that fail is not in 0 .. 1";
    if (f->arrival == SIM_REPLAY && f->n_replay && !f->replay_ns)
        return "a fleet that replays needs times";
    return NULL;
}

static const char *check_edges(const struct sim_model *m,
                               const struct sim_model_service *s)
{
    for (uint32_t i = 0; i < s->n_edges; i++) {
        const struct sim_model_edge *e = &s->edges[i];

        if (e->service >= m->n_services || e->policy >= m->n_policies)
            return "a service calls one, or by a policy, that is not there";
        if (e->times == 0)
            return "a service calls another no times";
    }
    return NULL;
}

static const char *check_service(const struct sim_model *m,
                                 const struct sim_model_service *s)
{
    if (s->workers == 0 || s->shards == 0)
        return "a service needs workers and at least one shard";
    if (!(s->error_rate >= 0 && s->error_rate <= 1) ||
        !(s->lost_rate >= 0 && s->lost_rate <= 1))
        return "the share of errors, or of lost answers, is not in 0 .. 1";
    if (s->limit_rate > 0 && !(s->limit_burst >= 1))
        return "a rate limit needs a burst of at least 1";
    return check_edges(m, s);
}

static const char *check_fault(const struct sim_model *m,
                               const struct sim_fault *f)
{
    if (f->service >= m->n_services)
        return "a fault happens to a service that is not there";
    const struct sim_model_service *s = &m->services[f->service];
    uint32_t servers = s->servers ? s->servers : 1;

    if (f->shard != SIM_NONE && f->shard >= s->shards)
        return "a fault happens to a shard that is not there";
    if (f->server >= servers || f->n_servers > servers)
        return "a fault happens to a server that is not there";
    if (f->in_turn && (f->n_servers == 0 || f->every_ns <= 0))
        return "a fault in turn is of some servers, every so often";
    if (f->fleet != SIM_NONE && f->fleet >= m->n_fleets)
        return "a partition is from a fleet that is not there";
    if (f->from_ns < 0 || f->to_ns <= f->from_ns)
        return "a fault is over before it begins";
    return NULL;
}

/* Removes services that no one is left to call, until there are none: those
 * that remain are in a cycle, or below one. */
static const char *check_circles(const struct sim_model *m)
{
    uint32_t *callers = sim_new(m->n_services, sizeof *callers);
    uint32_t *ready = sim_new(m->n_services, sizeof *ready);
    uint32_t n_ready = 0, taken = 0;

    for (uint32_t i = 0; i < m->n_services; i++)
        for (uint32_t k = 0; k < m->services[i].n_edges; k++)
            callers[m->services[i].edges[k].service]++;
    for (uint32_t i = 0; i < m->n_services; i++)
        if (callers[i] == 0)
            ready[n_ready++] = i;
    for (; taken < n_ready; taken++) {
        const struct sim_model_service *s = &m->services[ready[taken]];

        for (uint32_t k = 0; k < s->n_edges; k++)
            if (--callers[s->edges[k].service] == 0)
                ready[n_ready++] = s->edges[k].service;
    }
    free(callers);
    free(ready);
    return taken < m->n_services ? "services call each other in a circle"
                                 : NULL;
}

static const char *check_variant(const struct sim_model *m,
                                 const struct sim_model_variant *v)
{
    for (uint32_t i = 0; i < m->n_fleets; i++)
        if (v->fleet_policy[i] != SIM_NONE &&
            v->fleet_policy[i] >= m->n_policies)
            return "a variant names a policy that is not there";
    for (uint32_t i = 0; v->edge_policy && i < m->n_services; i++)
        for (uint32_t k = 0; k < m->services[i].n_edges; k++)
            if (v->edge_policy[i][k] != SIM_NONE &&
                v->edge_policy[i][k] >= m->n_policies)
                return "a variant names a policy that is not there";
    return NULL;
}

const char *sim_model_check(const struct sim_model *m)
{
    const char *why = NULL;

    if (m->duration_ns <= 0 || m->warm_up_ns < 0 ||
        m->warm_up_ns >= m->duration_ns)
        return "the duration is not over 0, or not over the warm-up";
    if (m->n_fleets == 0 || m->n_services == 0 || m->n_policies == 0)
        return "there are no clients, no services or no policies";
    for (uint32_t i = 0; !why && i < m->n_policies; i++)
        if (bide_policy_check(&m->policies[i].conf) < 0)
            why = "a policy is not a valid one";
    for (uint32_t i = 0; !why && i < m->n_fleets; i++)
        why = check_fleet(m, &m->fleets[i]);
    for (uint32_t i = 0; !why && i < m->n_services; i++)
        why = check_service(m, &m->services[i]);
    for (uint32_t i = 0; !why && i < m->n_faults; i++)
        why = check_fault(m, &m->faults[i]);
    for (uint32_t i = 0; !why && i < m->n_variants; i++)
        why = check_variant(m, &m->variants[i]);
    return why ? why : check_circles(m);
}

int64_t sim_model_faults_end(const struct sim_model *m)
{
    int64_t end_ns = 0;
    for (uint32_t i = 0; i < m->n_faults; i++)
        if (m->faults[i].to_ns > end_ns)
            end_ns = m->faults[i].to_ns;
    return end_ns;
}
