/* Builds a world from a model and a variant: services, the edges between them,
 * and fleets with the policies they use. */
#include "sim/world/world_build.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/model/memory.h"
#include "sim/world/service_work.h"
#include "sim/world/stage.h"

/* ===== policies ===== */

static uint32_t either(uint32_t special, uint32_t usual)
{
    return special != SIM_NONE ? special : usual;
}

uint32_t sim_fleet_policy(const struct sim_model *m, uint32_t variant,
                          uint32_t fleet)
{
    uint32_t usual = m->fleets[fleet].policy;
    if (variant == SIM_NONE || !m->variants[variant].fleet_policy)
        return usual;
    return either(m->variants[variant].fleet_policy[fleet], usual);
}

uint32_t sim_edge_policy(const struct sim_model *m, uint32_t variant,
                         uint32_t service, uint32_t edge)
{
    uint32_t usual = m->services[service].edges[edge].policy;
    uint32_t **special =
        variant == SIM_NONE ? NULL : m->variants[variant].edge_policy;
    if (!special || !special[service])
        return usual;
    return either(special[service][edge], usual);
}

const struct sim_model_balance *sim_service_balance(const struct sim_model *m,
                                                    uint32_t variant,
                                                    uint32_t service)
{
    const struct sim_model_balance **special =
        variant == SIM_NONE ? NULL : m->variants[variant].balance;
    return special && special[service] ? special[service]
                                       : &m->services[service].balance;
}

const struct sim_model_queue *sim_fleet_queue(const struct sim_model *m,
                                              uint32_t variant, uint32_t fleet)
{
    const struct sim_model_queue **special =
        variant == SIM_NONE ? NULL : m->variants[variant].queue;
    return special && special[fleet] ? special[fleet]
                                     : &m->fleets[fleet].queue;
}

static enum sim_repeat repeat_of(const struct sim_model *m, uint32_t variant,
                                 uint32_t fleet)
{
    const struct sim_model_variant *v =
        variant == SIM_NONE ? NULL : &m->variants[variant];
    if (v && v->fleet_repeat && v->fleet_repeat[fleet] != SIM_NONE)
        return (enum sim_repeat)v->fleet_repeat[fleet];
    return m->fleets[fleet].repeat;
}

bool sim_same_variant(const struct sim_model *m, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < m->n_fleets; i++)
        if (sim_fleet_policy(m, a, i) != sim_fleet_policy(m, b, i) ||
            repeat_of(m, a, i) != repeat_of(m, b, i) ||
            sim_fleet_queue(m, a, i) != sim_fleet_queue(m, b, i))
            return false;
    for (uint32_t i = 0; i < m->n_services; i++)
        for (uint32_t e = 0; e < m->services[i].n_edges; e++)
            if (sim_edge_policy(m, a, i, e) != sim_edge_policy(m, b, i, e))
                return false;
    for (uint32_t i = 0; i < m->n_services; i++)
        if (sim_service_balance(m, a, i) != sim_service_balance(m, b, i))
            return false;
    return true;
}

/* As memory.h has it, without memory. A model whose policies are not valid is a
 * mistake of the program. */
static void insist(int rc)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "bide sim: %s\n", bide_strerror(rc));
    if (rc == BIDE_ENOMEM)
        exit(1);
    abort();
}

/* ===== services ===== */

static void add_service(struct sim_build *c, uint32_t i, uint32_t *n_faults)
{
    const struct sim_model *m = c->model;
    struct sim_service *s = &c->services[i];
    s->conf = m->services[i];
    s->conf.balance = *sim_service_balance(m, c->variant, i);
    s->part = ++c->parts;
    s->faults = &c->faults[*n_faults];
    s->fleets = c->senders;
    for (uint32_t f = 0; f < m->n_faults; f++) {
        if (m->faults[f].service != i)
            continue;
        c->faults[(*n_faults)++] = m->faults[f];
        s->n_faults++;
    }
    sim_service_init(s, &c->world);
}

static void connect_edges(struct sim_build *c, uint32_t i)
{
    const struct sim_model *m = c->model;
    struct sim_service *s = &c->services[i];
    for (uint32_t e = 0; e < s->conf.n_edges; e++) {
        uint32_t policy = sim_edge_policy(m, c->variant, i, e);
        struct sim_service *below = &c->services[s->conf.edges[e].service];
        insist(sim_service_edge(s, &c->world, e, &below->target,
                                &m->policies[policy].conf, ++c->parts));
        c->callers[c->n_callers++] = &s->edges[e].caller;
    }
}

/* ===== fleets ===== */

static void describe(struct sim_fleet *f, const struct sim_model_fleet *conf,
                     int64_t duration_ns)
{
    f->clients = conf->clients;
    f->arrival = conf->arrival;
    f->gap = conf->think;
    f->replay_ns = conf->replay_ns;
    f->n_replay = conf->n_replay;
    f->most_calls = conf->most_calls;
    f->from_ns = conf->from_ns;
    f->until_ns = conf->until_ns;
    f->cron_ns = conf->every_ns;
    f->spread_ns = conf->spread_ns;
    if (conf->arrival != SIM_OPEN)
        return;
    if (conf->load.n_steps > 0) {
        sim_rates_init(&f->rates, &conf->load, conf->rate, duration_ns);
        f->gap = sim_exponential(1e9);
        f->every_ns = conf->steady;
        return;
    }
    f->gap = sim_exponential(1e9 / conf->rate);
    f->every_ns = conf->steady ? 1e9 / conf->rate : 0;
}

/* Whose end "all back by" asks for: calls that began before the faults were
 * over, and all of a fleet that stops calling. */
static int64_t affected_until(const struct sim_model *m,
                              const struct sim_model_fleet *f)
{
    bool stops = f->most_calls > 0 ||
                 (f->until_ns > 0 && f->until_ns < m->duration_ns);
    return stops ? INT64_MAX : sim_model_faults_end(m);
}

static void add_queue(struct sim_build *c, uint32_t i)
{
    struct sim_queue *q = &c->queues[i];
    q->conf = *sim_fleet_queue(c->model, c->variant, i);
    if (q->conf.workers == 0)
        return;
    q->caller = &c->fleet_callers[i];
    q->caller->queue = q;
    sim_queue_init(q, &c->world);
}

static void add_fleet(struct sim_build *c, uint32_t i, uint32_t samples)
{
    const struct sim_model *m = c->model;
    const struct sim_model_fleet *conf = &m->fleets[i];
    struct sim_caller *caller = &c->fleet_callers[i];
    uint32_t policy = sim_fleet_policy(m, c->variant, i);
    c->marks[i].fleet = i;
    c->marks[i].clients = samples < conf->clients ? samples : conf->clients;
    c->marks[i].stride =
        samples && samples < conf->clients ? conf->clients / samples : 1;
    caller->target = &c->services[conf->service].target;
    caller->part = ++c->parts;
    caller->repeat = repeat_of(m, c->variant, i);
    caller->affected_ns = affected_until(m, conf);
    caller->marks = samples ? &c->marks[i] : NULL;
    const struct sim_model_queue *queue = sim_fleet_queue(m, c->variant, i);
    insist(sim_caller_init(caller, &c->world, &m->policies[policy].conf,
                           queue->workers ? queue->workers : conf->processes));
    add_queue(c, i);
    c->senders[i] = &caller->sender;
    c->callers[c->n_callers++] = caller;
    c->fleets[i].caller = caller;
    c->fleets[i].part = ++c->parts;
    describe(&c->fleets[i], conf, m->duration_ns);
    c->fleets[i].waiting = queue->waiting;
}

/* ===== the whole filter ===== */

static uint32_t count_callers(const struct sim_model *m)
{
    uint32_t n = m->n_fleets;
    for (uint32_t i = 0; i < m->n_services; i++)
        n += m->services[i].n_edges;
    return n;
}

void sim_build_init(struct sim_build *c, const struct sim_model *m,
                   uint32_t variant, uint64_t seed, uint32_t samples)
{
    uint32_t n_faults = 0;
    *c = (struct sim_build){ .model = m, .variant = variant };
    sim_world_init(&c->world, seed);
    c->services = sim_new(m->n_services, sizeof *c->services);
    c->fleets = sim_new(m->n_fleets, sizeof *c->fleets);
    c->marks = sim_new(m->n_fleets, sizeof *c->marks);
    c->fleet_callers = sim_new(m->n_fleets, sizeof *c->fleet_callers);
    c->queues = sim_new(m->n_fleets, sizeof *c->queues);
    c->callers = sim_new(count_callers(m), sizeof *c->callers);
    c->faults = sim_new(m->n_faults, sizeof *c->faults);
    c->senders = sim_new(m->n_fleets, sizeof *c->senders);
    for (uint32_t i = 0; i < m->n_services; i++)
        add_service(c, i, &n_faults);
    for (uint32_t i = 0; i < m->n_fleets; i++)
        add_fleet(c, i, samples);
    for (uint32_t i = 0; i < m->n_services; i++)
        connect_edges(c, i);
    for (uint32_t i = 0; i < m->n_fleets; i++)
        sim_fleet_start(&c->fleets[i], &c->world);
}

void sim_build_done(struct sim_build *c)
{
    for (uint32_t i = 0; i < c->model->n_fleets; i++) {
        sim_fleet_done(&c->fleets[i]);
        sim_caller_done(&c->fleet_callers[i]);
        sim_queue_done(&c->queues[i]);
        sim_marks_free(&c->marks[i]);
    }
    for (uint32_t i = 0; i < c->model->n_services; i++)
        sim_service_done(&c->services[i]);
    sim_world_done(&c->world);
    free(c->services);
    free(c->fleets);
    free(c->marks);
    free(c->fleet_callers);
    free(c->queues);
    free(c->callers);
    free(c->faults);
    free(c->senders);
}
