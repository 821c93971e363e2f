/* The model in a few lines: who calls whom, how often and how that changes; how
 * long a request takes, how many are served at once, and how many wait. */
#include "sim/report/parts.h"
#include "sim/report/table.h"
#include "sim/report/text.h"

enum { LISTED = 12, STEPS = 6 };

static void number(struct page *p, enum page_unit unit, double x)
{
    char text[PAGE_TEXT];

    fputs(page_number(text, unit, x), p->out);
}

static void seconds(struct page *p, double ns)
{
    number(p, PAGE_SECONDS, ns / 1e9);
}

static void count(struct page *p, double n, const char *of)
{
    number(p, PAGE_COUNT, n);
    fprintf(p->out, " %s%s", of, n == 1 ? "" : "s");
}

static void name_service(struct page *p, const struct sim_model *m, uint32_t i)
{
    page_text(p->out, i < m->n_services ? m->services[i].name : "?");
}

/* "100 ms on average, exponential". */
static void duration(struct page *p, const struct sim_dist *d)
{
    static const char *const shapes[] = {
        [SIM_CONSTANT] = "",
        [SIM_EXPONENTIAL] = ", exponential",
        [SIM_NORMAL] = ", normal",
        [SIM_LOGNORMAL] = ", log-normal",
        [SIM_PARETO] = ", Pareto",
        [SIM_MIXTURE] = ", a mixture",
        [SIM_EMPIRICAL] = ", from a histogram",
        [SIM_PERCENTILES] = ", from percentiles",
    };

    seconds(p, sim_dist_mean(d));
    if (d->kind != SIM_CONSTANT)
        fprintf(p->out, " on average%s", shapes[d->kind]);
}

/* ===== fleets ===== */

static void step(struct page *p, const struct sim_profile *load,
                 const struct sim_rate_step *s)
{
    fputs(", ", p->out);
    number(p, PAGE_RATE, s->rate * load->factor);
    fputs(s->over_ns > 0 ? " by " : " from ", p->out);
    seconds(p, (double)(s->at_ns + s->over_ns));
    if (s->for_ns > 0) {
        fputs(" for ", p->out);
        seconds(p, (double)s->for_ns);
    }
}

/* "100/s, 450/s from 30 s, 100/s by 90 s". */
static void rate(struct page *p, const struct sim_model_fleet *f)
{
    const struct sim_profile *load = &f->load;

    number(p, PAGE_RATE, f->rate);
    for (size_t i = 0; i < load->n_steps && i < STEPS; i++)
        step(p, load, &load->steps[i]);
    if (load->n_steps > STEPS)
        fprintf(p->out, ", and %zu more changes", load->n_steps - STEPS);
    if (load->repeat_ns > 0) {
        fputs(", again every ", p->out);
        seconds(p, (double)load->repeat_ns);
    }
    if (f->steady)
        fputs(", evenly spaced", p->out);
}

static void arrivals(struct page *p, const struct sim_model_fleet *f)
{
    switch (f->arrival) {
    case SIM_OPEN:
        rate(p, f);
        return;
    case SIM_CLOSED:
        fputs("each calls again ", p->out);
        duration(p, &f->think);
        fputs(" after its last call", p->out);
        return;
    case SIM_CRON:
        fputs("each calls every ", p->out);
        seconds(p, (double)f->every_ns);
        if (f->spread_ns == 0)
            fputs(", all at once", p->out);
        return;
    default:
        fputs("calls as in the log", p->out);
    }
}

/* The queue of a fleet, and who works on it. */
static void messages(struct page *p, const struct sim_model_queue *q)
{
    if (q->workers == 0)
        return;
    fputs("; a queue", p->out);
    if (q->waiting) {
        fputs(" in which ", p->out);
        number(p, PAGE_COUNT, q->waiting);
        fputs(" wait", p->out);
    }
    fputs(", ", p->out);
    count(p, q->workers, "worker");
    fputs(", ", p->out);
    number(p, PAGE_COUNT, q->at_once);
    fputs(q->workers > 1 ? " at once each" : " at once", p->out);
}

static void fleet(struct page *p, const struct sim_model *m,
                  const struct sim_model_fleet *f)
{
    fputs("<li><b>", p->out);
    page_text(p->out, f->name);
    fputs(" → ", p->out);
    name_service(p, m, f->service);
    fputs("</b> ", p->out);
    count(p, f->clients, "client");
    if (f->processes > 1 && f->processes < f->clients) {
        fputs(" in ", p->out);
        number(p, PAGE_COUNT, f->processes);
        fputs(" processes", p->out);
    }
    fputs(": ", p->out);
    arrivals(p, f);
    messages(p, &f->queue);
    fputs("</li>\n", p->out);
}

/* ===== services ===== */

static void queue(struct page *p, const struct sim_model_service *s)
{
    if (s->workers == SIM_UNBOUNDED)
        return;
    if (s->queue == SIM_UNBOUNDED)
        fputs("; a queue without end", p->out);
    else if (s->queue == 0)
        fputs("; no queue", p->out);
    else {
        fputs("; a queue of ", p->out);
        number(p, PAGE_COUNT, s->queue);
    }
    if (s->queue != 0 && s->order == SIM_LIFO)
        fputs(", last in first out", p->out);
    if (s->drop_late)
        fputs(", late requests dropped", p->out);
}

/* What it can serve at most, if its workers do nothing else than this. */
static void capacity(struct page *p, const struct sim_model_service *s)
{
    double each = sim_dist_mean(&s->time);
    double workers = (double)s->workers * (s->servers > 1 ? s->servers : 1) *
                     (s->shards > 1 ? s->shards : 1);

    if (s->workers == SIM_UNBOUNDED || !(each > 0) ||
        (s->n_edges > 0 && !s->detached))
        return;
    fputs("; serves ", p->out);
    number(p, PAGE_RATE, workers / (each / 1e9));
}

static void limits(struct page *p, const struct sim_model_service *s)
{
    if (s->limit_rate > 0) {
        fputs("; answers 429 beyond ", p->out);
        number(p, PAGE_RATE, s->limit_rate);
    }
    if (s->error_rate > 0) {
        fputs("; ", p->out);
        number(p, PAGE_SHARE, s->error_rate);
        fputs(" errors", p->out);
    }
    if (s->lost_rate > 0) {
        fputs("; ", p->out);
        number(p, PAGE_SHARE, s->lost_rate);
        fputs(" of the responses are lost", p->out);
    }
}

static void service(struct page *p, const struct sim_model *m,
                    const struct sim_model_service *s)
{
    fputs("<li><b>", p->out);
    page_text(p->out, s->name);
    for (uint32_t i = 0; i < s->n_edges; i++) {
        fputs(i ? ", " : " → ", p->out);
        name_service(p, m, s->edges[i].service);
        if (s->edges[i].times > 1)
            fprintf(p->out, " ×%u", s->edges[i].times);
    }
    fputs("</b> ", p->out);
    if (s->shards > 1)
        fprintf(p->out, "%u shards of ", s->shards);
    if (s->servers > 1)
        fprintf(p->out, "%u servers of ", s->servers);
    if (s->workers == SIM_UNBOUNDED)
        fputs("any number of workers", p->out);
    else
        count(p, s->workers, "worker");
    fputs("; a request takes ", p->out);
    duration(p, &s->time);
    queue(p, s);
    capacity(p, s);
    limits(p, s);
    fputs("</li>\n", p->out);
}

void page_model(struct page *p)
{
    const struct sim_model *m = p->s->model;

    fputs("<ul class=\"model\">\n", p->out);
    for (uint32_t i = 0; i < m->n_fleets && i < LISTED; i++)
        fleet(p, m, &m->fleets[i]);
    for (uint32_t i = 0; i < m->n_services && i < LISTED; i++)
        service(p, m, &m->services[i]);
    if (m->n_fleets > LISTED || m->n_services > LISTED)
        fputs("<li>and more</li>\n", p->out);
    fputs("</ul>\n", p->out);
}
