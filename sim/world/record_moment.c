/* The state at a moment, and at each beat. */
#include "sim/world/record_moment.h"

#include <stdlib.h>

#include "sim/model/memory.h"
#include "sim/world/record.h"

/* ===== moments ===== */

void sim_moment_init(struct sim_moment *m, const struct sim_build *c)
{
    m->callers = sim_new(c->n_callers, sizeof *m->callers);
    m->latency = sim_new(c->n_callers, sizeof *m->latency);
    m->services = sim_new(c->model->n_services, sizeof *m->services);
    m->capacity = sim_new(c->model->n_services, sizeof *m->capacity);
}

void sim_moment_done(struct sim_moment *m)
{
    free(m->callers);
    free(m->latency);
    free(m->services);
    free(m->capacity);
}

struct sim_service_result sim_service_totals(const struct sim_service *s)
{
    return (struct sim_service_result){
        .name = s->conf.name,
        .arrived = s->arrived,
        .served = s->served,
        .wasted = s->wasted,
        .refused = s->refused,
        .throttled = s->throttled,
        .dropped = s->dropped,
        .errors = s->errors,
        .duplicates = s->duplicates,
        .commits = s->commits,
        .busy_ns = s->busy_ns,
        .queued_ns = s->queued_ns,
        .begun = s->begun,
        .wasted_ns = s->wasted_ns,
        .waited = s->waited,
        .broken = s->broken,
        .lost = s->lost,
        .unheard = s->unheard,
    };
}

void sim_moment_take(struct sim_moment *m, const struct sim_build *c,
                     int64_t now)
{
    for (uint32_t i = 0; i < c->n_callers; i++) {
        m->callers[i] = c->callers[i]->metrics.total;
        m->latency[i] = c->callers[i]->metrics.latency;
    }
    for (uint32_t i = 0; i < c->model->n_services; i++) {
        m->services[i] = sim_service_totals(&c->services[i]);
        m->services[i].held_ns = sim_service_held(&c->services[i], now);
        m->capacity[i] = sim_service_capacity(&c->services[i], now);
    }
}

/* ===== beats ===== */

void sim_beats_init(struct sim_beats *b, int64_t duration_ns, int64_t length_ns)
{
    b->length_ns = length_ns;
    size_t n = (size_t)(duration_ns / b->length_ns) + 1;
    b->begun = sim_new(n, sizeof *b->begun);
    b->ended = sim_new(n, sizeof *b->ended);
    b->good = sim_new(n, sizeof *b->good);
    b->arrived = sim_new(n, sizeof *b->arrived);
}

static bool fleets_call(const struct sim_model *m, uint32_t service)
{
    for (uint32_t i = 0; i < m->n_fleets; i++)
        if (m->fleets[i].service == service)
            return true;
    return false;
}

/* Totals up to now; figures take the differences. */
void sim_beats_note(struct sim_record *rec)
{
    const struct sim_build *c = rec->build;
    struct sim_beats *b = &rec->result->beats;
    for (uint32_t i = 0; i < c->model->n_fleets; i++) {
        const struct sim_caller_totals *t = &c->fleet_callers[i].metrics.total;
        b->begun[b->n] += t->calls;
        b->ended[b->n] += t->successes + t->failures;
        b->good[b->n] += t->successes;
    }
    for (uint32_t i = 0; i < c->model->n_services; i++)
        if (fleets_call(c->model, i))
            b->arrived[b->n] += c->services[i].arrived;
    b->n++;
}
