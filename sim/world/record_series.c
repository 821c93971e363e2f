/* One step: what was added to the totals since the last, and the values of the
 * gauges. */
#include "sim/model/memory.h"
#include "sim/world/record.h"

/* ===== latency ===== */

/* What was added to a histogram since `last`, which is updated. */
static void take_new(const struct sim_histogram *now, struct sim_histogram *last,
                     struct sim_histogram *ret)
{
    ret->count = now->count - last->count;
    for (int i = 0; i < SIM_BUCKETS; i++) {
        ret->bucket[i] = now->bucket[i] - last->bucket[i];
        last->bucket[i] = now->bucket[i];
    }
    last->count = now->count;
}

static void note_latency(struct sim_record *rec, uint32_t i, double *p50,
                         double *p99)
{
    const struct sim_histogram *now = &rec->build->callers[i]->metrics.latency;
    if (now->count == rec->last.latency[i].count)
        return;
    take_new(now, &rec->last.latency[i], &rec->scratch);
    *p50 = sim_histogram_quantile(&rec->scratch, 0.5);
    *p99 = sim_histogram_quantile(&rec->scratch, 0.99);
}

/* ===== callers ===== */

/* Of many processes only this many are examined, evenly spread. */
enum { MOST_LOOKED_AT = 1000 };

static void note_deps(const struct sim_caller *c, double **value, uint32_t step,
                      int64_t now)
{
    uint32_t stride = (c->n_deps + MOST_LOOKED_AT - 1) / MOST_LOOKED_AT;
    uint32_t looked = 0, open = 0, half = 0;
    double left = 0;
    bool budget = true;
    for (uint32_t i = 0; i < c->n_deps; i += stride, looked++) {
        bide_breaker_state state = bide_dep_breaker(c->deps[i], now);
        int64_t grants = bide_dep_budget_left(c->deps[i], now);
        open += state == BIDE_BREAKER_OPEN;
        half += state == BIDE_BREAKER_HALF_OPEN;
        budget = budget && grants != BIDE_FOREVER;
        left += (double)grants;
    }
    value[SIM_BREAKER_OPEN][step] = (double)open / looked;
    value[SIM_BREAKER_HALF][step] = (double)half / looked;
    value[SIM_BUDGET][step] = budget ? left / looked * c->n_deps : -1;
}

static void note_reasons(struct sim_caller_result *r, uint32_t n_steps,
                         uint32_t step, const struct sim_caller_totals *now,
                         const struct sim_caller_totals *last)
{
    for (int i = 0; i < BIDE_N_REASONS; i++) {
        uint64_t n = now->by_reason[i] - last->by_reason[i];
        if (n == 0)
            continue;
        if (!r->by_reason[i])
            r->by_reason[i] = sim_new(n_steps, sizeof(uint32_t));
        r->by_reason[i][step] = (uint32_t)n;
    }
}

static void note_caller(struct sim_record *rec, uint32_t i, int64_t now)
{
    const struct sim_caller *c = rec->build->callers[i];
    const struct sim_caller_totals *t = &c->metrics.total;
    struct sim_caller_totals *last = &rec->last.callers[i];
    struct sim_caller_result *r = &rec->result->callers[i];
    uint32_t step = rec->step;
    const struct {
        enum sim_caller_channel channel;
        uint64_t more;
    } counts[] = {
        { SIM_CALLS, t->calls - last->calls },
        { SIM_ATTEMPTS, t->attempts - last->attempts },
        { SIM_RETRIES, t->retries - last->retries },
        { SIM_HEDGES, t->hedges - last->hedges },
        { SIM_SUCCESSES, t->successes - last->successes },
        { SIM_FAILURES, t->failures - last->failures },
        { SIM_TIMEOUTS, t->timeouts - last->timeouts },
        { SIM_IN_PROGRESS, c->metrics.in_progress },
        { SIM_WAITING, c->metrics.waiting },
    };
    for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++)
        r->value[counts[n].channel][step] = (double)counts[n].more;
    note_deps(c, r->value, step, now);
    if (c->queue) {
        r->value[SIM_DUE][step] = (double)sim_queue_due(c->queue, now);
        r->value[SIM_OLDEST_NS][step] = (double)sim_queue_oldest(c->queue, now);
        r->value[SIM_PAUSED][step] = sim_queue_paused(c->queue);
    }
    note_latency(rec, i, &r->value[SIM_P50_NS][step],
                 &r->value[SIM_P99_NS][step]);
    note_reasons(r, rec->result->n_steps, step, t, last);
    *last = *t;
}

/* ===== services ===== */

static void note_service(struct sim_record *rec, uint32_t i, int64_t now)
{
    const struct sim_service *s = &rec->build->services[i];
    struct sim_service_result *last = &rec->last.services[i];
    double **value = rec->result->services[i].value;
    double capacity = sim_service_capacity(s, now);
    uint32_t step = rec->step;
    const struct {
        enum sim_service_channel channel;
        uint64_t now, *last;
    } counts[] = {
        { SIM_ARRIVED, s->arrived, &last->arrived },
        { SIM_SERVED, s->served, &last->served },
        { SIM_WASTED, s->wasted, &last->wasted },
        { SIM_REFUSED, s->refused, &last->refused },
        { SIM_THROTTLED, s->throttled, &last->throttled },
        { SIM_DROPPED, s->dropped, &last->dropped },
        { SIM_ERRORS, s->errors, &last->errors },
        { SIM_DUPLICATES, s->duplicates, &last->duplicates },
    };
    for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
        value[counts[n].channel][step] =
            (double)(counts[n].now - *counts[n].last);
        *counts[n].last = counts[n].now;
    }
    value[SIM_QUEUE][step] = (double)sim_service_queued(s);
    value[SIM_BUSY][step] = (double)sim_service_busy(s);
    value[SIM_CAPACITY_RATE][step] = sim_service_unlimited(s)
                                         ? -1
                                         : capacity - rec->last.capacity[i];
    rec->last.capacity[i] = capacity;
}

void sim_record_step(struct sim_record *rec, int64_t now)
{
    for (uint32_t i = 0; i < rec->build->n_callers; i++)
        note_caller(rec, i, now);
    for (uint32_t i = 0; i < rec->build->model->n_services; i++)
        note_service(rec, i, now);
    rec->step++;
}
