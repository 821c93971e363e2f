/* The model in a few lines: who calls whom, how often, and how fast the callee
 * is. */
#include "sim/report/parts.h"
#include "sim/report/table.h"
#include "sim/report/text.h"

static void number(struct page *p, enum page_unit unit, double x)
{
    char text[PAGE_TEXT];

    fputs(page_number(text, unit, x), p->out);
}

static void fleet(struct page *p, const struct sim_model *m,
                  const struct sim_model_fleet *f)
{
    fputs("<li><b>", p->out);
    page_text(p->out, f->name);
    fputs("</b> ", p->out);
    number(p, PAGE_COUNT, f->clients);
    fputs(f->clients == 1 ? " client" : " clients", p->out);
    if (f->processes > 1 && f->processes < f->clients) {
        fputs(" in ", p->out);
        number(p, PAGE_COUNT, f->processes);
        fputs(" processes", p->out);
    }
    if (f->arrival == SIM_OPEN) {
        fputs(f->load.n_steps > 0 ? " call on average " : " call ", p->out);
        number(p, PAGE_RATE, sim_fleet_rate(f, m->duration_ns));
    } else {
        fputs(f->arrival == SIM_CLOSED ? " call in turn"
              : f->arrival == SIM_CRON ? " call by the clock"
                                       : " call as in the log",
              p->out);
    }
    fputs(" → ", p->out);
    page_text(p->out,
              f->service < m->n_services ? m->services[f->service].name : "?");
    fputs("</li>\n", p->out);
}

static void service(struct page *p, const struct sim_model *m,
                    const struct sim_model_service *s)
{
    fputs("<li><b>", p->out);
    page_text(p->out, s->name);
    fputs("</b> ", p->out);
    if (s->shards > 1)
        fprintf(p->out, "%u shards, each ", s->shards);
    if (s->servers > 1)
        fprintf(p->out, "%u servers, each ", s->servers);
    if (s->workers == SIM_UNBOUNDED)
        fputs("any number of workers", p->out);
    else
        fprintf(p->out, "%u worker%s", s->workers, s->workers == 1 ? "" : "s");
    if (s->limit_rate > 0) {
        fputs(", at most ", p->out);
        number(p, PAGE_RATE, s->limit_rate);
    }
    for (uint32_t i = 0; i < s->n_edges; i++) {
        fputs(i ? ", " : " → ", p->out);
        page_text(p->out, s->edges[i].service < m->n_services
                              ? m->services[s->edges[i].service].name
                              : "?");
    }
    fputs("</li>\n", p->out);
}

void page_model(struct page *p)
{
    const struct sim_model *m = p->s->model;

    fputs("<ul class=\"model\">\n", p->out);
    for (uint32_t i = 0; i < m->n_fleets && i < 12; i++)
        fleet(p, m, &m->fleets[i]);
    for (uint32_t i = 0; i < m->n_services && i < 12; i++)
        service(p, m, &m->services[i]);
    fputs("</ul>\n", p->out);
}
