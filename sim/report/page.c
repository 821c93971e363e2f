/* The report from top to bottom. First the result, as a picture: the load of the
 * tier that is short and a few figures, or the maps; then what was simulated,
 * and all figures; then the pictures in the order in which a storm unfolds: the
 * load of the other tiers, what users get, work, queue, retries, states, waits,
 * some clients; then policies and definitions. */
#include "sim/report/page.h"

#include <math.h>

#include "sim/report/faults.h"
#include "sim/report/fleets.h"
#include "sim/report/load.h"
#include "sim/report/map.h"
#include "sim/report/models.h"
#include "sim/report/parts.h"
#include "sim/report/plot/curves.h"
#include "sim/report/plot/row.h"
#include "sim/report/policies.h"
#include "sim/report/retries.h"
#include "sim/report/table.h"
#include "sim/report/text.h"

static const char *title_of(const struct page *p)
{
    const char *title = p->s->model->title;

    return page_is_mixed(p->s) ? "Scenarios side by side"
           : title             ? title
                               : "A simulation";
}

static void head(struct page *p)
{
    fprintf(
        p->out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
        "<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
        "'none'; style-src 'unsafe-inline'; script-src '%s'; base-uri "
        "'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
        page_script_hash);
    page_text(p->out, title_of(p));
    fprintf(p->out, "</title>\n<style>\n%s</style>\n</head>\n", page_style);
}

static void facts(struct page *p)
{
    char text[PAGE_TEXT];
    const struct sim_summary *s = p->s;

    fprintf(p->out, "<p class=\"facts\">%s of virtual time",
            page_time(text, p->end_ns));
    if (s->replications > 1)
        fprintf(p->out, " · %u runs of each variant", s->replications);
    if (s->n_variants && s->variants[0].n_runs > 1)
        fprintf(p->out,
                " · curves: the median of %u runs, and a band for the "
                "middle 80 %% of them",
                s->variants[0].n_runs);
    if (s->events)
        fprintf(p->out, " · %s events",
                page_number(text, PAGE_COUNT, (double)s->events));
    if (s->cut_short)
        fputs(" · <b>stopped before its time</b>", p->out);
    fputs("</p>\n", p->out);
}

static void paragraph(struct page *p, const char *kind, const char *text)
{
    if (!text || !*text)
        return;
    fprintf(p->out, "<p class=\"%s\">", kind);
    page_text(p->out, text);
    fputs("</p>\n", p->out);
}

static void title(struct page *p)
{
    fputs("<header>\n<p class=\"mark\">bide sim</p>\n<h1>", p->out);
    page_text(p->out, title_of(p));
    fputs("</h1>\n", p->out);
    facts(p);
    fputs("</header>\n", p->out);
}

/* What is simulated, below the picture of it. */
static void scenario(struct page *p)
{
    const struct sim_model *m = p->s->model;

    if (page_is_mixed(p->s))
        return;
    page_row_open(p, "The scenario", NULL);
    paragraph(p, "lead", m->about);
    paragraph(p, "look", m->look_at);
    fputs("<div class=\"setup\">\n", p->out);
    page_model(p);
    page_faults_list(p);
    fputs("</div>\n</section>\n", p->out);
}

/* The longest run, because one that was cut off is shorter. */
static double end_of(const struct sim_summary *s)
{
    double end = 0;

    for (uint32_t v = 0; v < s->n_variants; v++) {
        const struct sim_result *r = page_run(s, v);

        if (r)
            end = fmax(end, (double)r->step_ns * r->n_steps);
    }
    return end > 0 ? end : fmax((double)s->model->duration_ns, 1);
}

static void pictures(struct page *p)
{
    page_loads(p);
    page_work(p);
    page_fleets(p);
    page_retries(p);
    page_states(p);
    page_waits(p);
    page_clients(p);
}

int sim_page_write(FILE *out, const struct sim_summary *s,
                   const struct sim_page_context *ctx)
{
    static const struct sim_page_context none = { .command = NULL };
    struct page p = {
        .out = out, .s = s, .ctx = ctx ? ctx : &none, .end_ns = end_of(s)
    };

    head(&p);
    fprintf(out, "<body class=\"n%u\">\n<main>\n",
            s->n_variants < 9 ? s->n_variants : 9);
    title(&p);
    if (s->n_variants > 0)
        page_load_first(&p);
    page_maps(&p);
    page_grids(&p);
    scenario(&p);
    page_table(&p);
    if (s->n_variants > 0)
        pictures(&p);
    page_policies(&p);
    page_notes(&p);
    fprintf(out, "</main>\n<script>%s</script>\n</body>\n</html>\n",
            page_script);
    fflush(out);
    return ferror(out) ? -1 : 0;
}
