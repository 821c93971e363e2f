/* Records a run: allocates its result, determines when the next record is due,
 * and fills in totals and marks at the end. */
#include "sim/world/record.h"

#include <stdlib.h>
#include <string.h>

#include "sim/model/memory.h"
#include "sim/world/figures.h"

/* ===== the result ===== */

static char *edge_name(const struct sim_model *m, uint32_t s, uint32_t e)
{
    const char *from = m->services[s].name;
    const char *to = m->services[m->services[s].edges[e].service].name;
    size_t n = strlen(from) + strlen(to) + sizeof " > ";
    char *name = sim_new(n, 1);
    strcat(strcat(strcpy(name, from), " > "), to);
    return name;
}

static void make_caller(struct sim_result *r, uint32_t i, const char *name,
                        uint32_t policy, bool is_fleet)
{
    struct sim_caller_result *c = &r->callers[i];
    c->name = name;
    c->policy = r->model->policies[policy].name;
    c->is_fleet = is_fleet;
    for (int v = 0; v < SIM_CALLER_CHANNELS; v++)
        c->value[v] = sim_new(r->n_steps, sizeof(double));
}

static void make_result(struct sim_result *r, uint32_t n_callers)
{
    const struct sim_model *m = r->model;
    uint32_t n = 0;
    r->callers = sim_new(n_callers, sizeof *r->callers);
    r->services = sim_new(m->n_services, sizeof *r->services);
    r->n_services = m->n_services;
    for (uint32_t i = 0; i < m->n_fleets; i++)
        make_caller(r, n++, m->fleets[i].name,
                    sim_fleet_policy(m, r->variant, i), true);
    for (uint32_t i = 0; i < m->n_services; i++)
        for (uint32_t e = 0; e < m->services[i].n_edges; e++)
            make_caller(r, n++, edge_name(m, i, e),
                        sim_edge_policy(m, r->variant, i, e), false);
    r->n_callers = n;
    for (uint32_t i = 0; i < m->n_services; i++) {
        r->services[i].name = m->services[i].name;
        for (int v = 0; v < SIM_SERVICE_CHANNELS; v++)
            r->services[i].value[v] = sim_new(r->n_steps, sizeof(double));
    }
}

/* ===== the schedule ===== */

static int64_t end_of(int64_t n, int64_t length, int64_t duration)
{
    int64_t at = (n + 1) * length;
    return at < duration ? at : duration;
}

void sim_record_init(struct sim_record *rec, struct sim_build *build,
                     struct sim_result *result)
{
    *rec = (struct sim_record){ .build = build, .result = result };
    sim_moment_init(&rec->last, build);
    sim_moment_init(&rec->warm, build);
    sim_beats_init(&result->beats, build->model->duration_ns,
                   result->beats.length_ns);
    make_result(result, build->n_callers);
}

int64_t sim_record_next(const struct sim_record *rec, int64_t now)
{
    const struct sim_model *m = rec->build->model;
    int64_t step = end_of(rec->step, rec->result->step_ns, m->duration_ns);
    int64_t beat = end_of(rec->result->beats.n, rec->result->beats.length_ns,
                          m->duration_ns);
    int64_t next = step < beat ? step : beat;
    return now < m->warm_up_ns && m->warm_up_ns < next ? m->warm_up_ns : next;
}

void sim_record_at(struct sim_record *rec, int64_t now)
{
    const struct sim_model *m = rec->build->model;
    if (now == end_of(rec->step, rec->result->step_ns, m->duration_ns))
        sim_record_step(rec, now);
    const struct sim_beats *b = &rec->result->beats;
    if (now == (b->n + 1) * b->length_ns)
        sim_beats_note(rec);
    if (now != m->warm_up_ns)
        return;
    sim_moment_take(&rec->warm, rec->build, now);
    for (uint32_t i = 0; i < m->n_fleets; i++)
        if (rec->build->queues[i].caller)
            sim_queue_restart(&rec->build->queues[i], now);
}

/* ===== the end ===== */

static int by_end(const void *a, const void *b)
{
    const struct sim_mark *x = a, *y = b;
    if (x->to_ns != y->to_ns)
        return x->to_ns < y->to_ns ? -1 : 1;
    if (x->fleet != y->fleet)
        return x->fleet < y->fleet ? -1 : 1;
    if (x->client != y->client)
        return x->client < y->client ? -1 : 1;
    if (x->call != y->call)
        return x->call < y->call ? -1 : 1;
    return (x->attempt > y->attempt) - (x->attempt < y->attempt);
}

static void collect_marks(struct sim_record *rec, int64_t now)
{
    struct sim_result *r = rec->result;
    for (uint32_t i = 0; i < r->model->n_fleets; i++) {
        struct sim_marks *m = &rec->build->marks[i];
        sim_marks_close(m, now);
        if (m->n == 0)
            continue;
        r->marks = sim_resize(r->marks, r->n_marks + m->n, sizeof *r->marks);
        memcpy(r->marks + r->n_marks, m->list, m->n * sizeof *m->list);
        r->n_marks += m->n;
    }
    if (r->n_marks > 0)
        qsort(r->marks, r->n_marks, sizeof *r->marks, by_end);
}

static void copy_totals(struct sim_record *rec)
{
    struct sim_result *r = rec->result;
    for (uint32_t i = 0; i < r->n_callers; i++) {
        const struct sim_metrics *m = &rec->build->callers[i]->metrics;
        r->callers[i].total = m->total;
        r->callers[i].total.unfinished = m->in_progress;
        r->callers[i].latency = m->latency;
        r->callers[i].wait = m->wait;
    }
    for (uint32_t i = 0; i < r->model->n_services; i++) {
        struct sim_service_result *s = &r->services[i];
        struct sim_service_result total =
            sim_service_totals(&rec->build->services[i]);
        memcpy(total.value, s->value, sizeof total.value);
        *s = total;
        s->held_ns = sim_service_held(&rec->build->services[i],
                                      rec->result->ended_ns);
        s->left = sim_service_left(&rec->build->services[i]);
    }
}

void sim_record_end(struct sim_record *rec, int64_t now)
{
    struct sim_result *r = rec->result;
    if (now > rec->step * r->step_ns && rec->step < r->n_steps)
        sim_record_step(rec, now); /* a partial step */
    r->n_steps = rec->step;
    r->ended_ns = now;
    r->cut_short = now < r->model->duration_ns;
    r->events = rec->build->world.events;
    copy_totals(rec);
    collect_marks(rec, now);
    sim_figures(rec);
}

void sim_record_done(struct sim_record *rec)
{
    sim_moment_done(&rec->last);
    sim_moment_done(&rec->warm);
}
