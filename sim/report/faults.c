/* Faults in words and as bands over the time axis. */
#include "sim/report/faults.h"

#include <math.h>

#include "sim/report/parts.h"
#include "sim/report/text.h"

/* The n-th time that a fault is on, or false. */
static bool occurrence(const struct sim_fault *f, uint32_t n,
                       struct page_band *b)
{
    double from = (double)f->from_ns + (double)n * (double)f->every_ns;
    double to = f->every_ns > 0 ? from + (double)f->for_ns : (double)f->to_ns;

    if (n > 0 && f->every_ns <= 0)
        return false;
    *b = (struct page_band){ from, fmin(to, (double)f->to_ns), f };
    return b->from_ns < b->to_ns;
}

uint32_t page_bands(const struct sim_model *m, double end_ns,
                    struct page_band *bands, uint32_t room)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->n_faults; i++) {
        struct page_band b;

        for (uint32_t k = 0;
             n < room && occurrence(&m->faults[i], k, &b) && b.from_ns < end_ns;
             k++) {
            b.to_ns = fmin(b.to_ns, end_ns);
            bands[n++] = b;
        }
    }
    return n;
}

const char *page_fault_words(char text[PAGE_TEXT], const struct sim_fault *f)
{
    char number[PAGE_TEXT];

    switch (f->kind) {
    case SIM_STOP:
        return "stopped";
    case SIM_CRASH:
        return "crashed";
    case SIM_PARTITION:
        return "cut off";
    case SIM_REFUSE:
        return "refuses connections";
    case SIM_SLOW:
        snprintf(text, PAGE_TEXT, "%.20s slower",
                 page_number(number, PAGE_TIMES, f->factor));
        return text;
    case SIM_FAIL:
        snprintf(text, PAGE_TEXT, "%.20s errors",
                 page_number(number, PAGE_SHARE, f->factor));
        return text;
    case SIM_CAPACITY:
        snprintf(text, PAGE_TEXT, "%.20s capacity",
                 page_number(number, PAGE_SHARE, f->factor));
        return text;
    }
    return "fault";
}

static void write_fault(struct page *p, const struct sim_fault *f)
{
    const struct sim_model *m = p->s->model;
    char text[PAGE_TEXT];

    fputs("<li><b>", p->out);
    page_text(p->out, f->service < m->n_services ? m->services[f->service].name
                                                 : "all");
    fputs("</b> ", p->out);
    if (f->shard != SIM_NONE)
        fprintf(p->out, "shard %u ", f->shard);
    if (f->in_turn)
        fputs("one after the other ", p->out);
    else if (f->n_servers == 1)
        fprintf(p->out, "server %u ", f->server + 1);
    else if (f->n_servers > 1)
        fprintf(p->out, "%u servers ", f->n_servers);
    fputs(page_fault_words(text, f), p->out);
    if (f->kind == SIM_PARTITION && f->fleet < m->n_fleets) {
        fputs(" from ", p->out);
        page_text(p->out, m->fleets[f->fleet].name);
    }
    fprintf(p->out, ", %s", page_time(text, (double)f->from_ns));
    fprintf(p->out, " to %s", page_time(text, (double)f->to_ns));
    if (f->every_ns > 0) {
        fprintf(p->out, ", for %s", page_time(text, (double)f->for_ns));
        fprintf(p->out, " of every %s", page_time(text, (double)f->every_ns));
    }
    fputs("</li>\n", p->out);
}

void page_faults_list(struct page *p)
{
    const struct sim_model *m = p->s->model;

    if (m->n_faults == 0)
        return;
    fputs("<ul class=\"faults\">\n", p->out);
    for (uint32_t i = 0; i < m->n_faults && i < 12; i++)
        write_fault(p, &m->faults[i]);
    if (m->n_faults > 12)
        fprintf(p->out, "<li>and %u more</li>\n", m->n_faults - 12);
    fputs("</ul>\n", p->out);
}
