/* The end of the page: definitions of the figures, and how to reproduce it. */
#include <inttypes.h>

#include "sim/report/parts.h"
#include "sim/report/plot/row.h"
#include "sim/report/policies.h"
#include "sim/report/table.h"
#include "sim/report/text.h"

static void definitions(struct page *p)
{
    page_row_open(p, "What the figures are", NULL);
    fputs("<dl class=\"defs\">\n", p->out);
    for (int f = 0; f < SIM_FIGURES; f++) {
        if (!page_figure_shown(p->s, (enum sim_figure)f))
            continue;
        fputs("<dt>", p->out);
        page_text(p->out, page_figure_words((enum sim_figure)f));
        fputs("</dt><dd>", p->out);
        page_text(p->out, sim_figure_about((enum sim_figure)f));
        fputs("</dd>\n", p->out);
    }
    fputs("</dl>\n", p->out);
    page_row_close(p);
}

static void reasons(struct page *p)
{
    bool shown[BIDE_N_REASONS] = { false }, any = false;

    for (uint32_t v = 0; v < p->s->n_variants; v++) {
        const struct sim_result *r = page_run(p->s, v);

        for (uint32_t i = 0; r && i < r->n_callers; i++)
            for (int k = 1; r->callers[i].is_fleet && k < BIDE_N_REASONS; k++)
                shown[k] = shown[k] || r->callers[i].total.by_reason[k];
    }
    for (int k = 1; k < BIDE_N_REASONS; k++)
        any = any || shown[k];
    if (!any)
        return;
    page_row_open(p, "What the reasons are", NULL);
    fputs("<dl class=\"defs\">\n", p->out);
    for (int k = 1; k < BIDE_N_REASONS; k++) {
        if (!shown[k])
            continue;
        fputs("<dt>", p->out);
        page_words(p->out, bide_reason_name((bide_reason)k));
        fputs("</dt><dd>", p->out);
        page_text(p->out, bide_reason_text((bide_reason)k));
        fputs("</dd>\n", p->out);
    }
    fputs("</dl>\n", p->out);
    page_row_close(p);
}

void page_notes(struct page *p)
{
    if (p->s->n_variants > 0) {
        definitions(p);
        reasons(p);
    }
    fputs("<footer>\n", p->out);
    if (p->ctx->command) {
        fputs("<p>Made by</p><pre>", p->out);
        page_text(p->out, p->ctx->command);
        fputs("</pre>\n", p->out);
    }
    fprintf(p->out, "<p>Seed %" PRIu64, p->s->seed);
    if (p->s->replications > 1)
        fprintf(p->out, " to %" PRIu64 ", %u runs of each variant%s",
                p->s->seed + p->s->replications - 1, p->s->replications,
                p->s->n_variants
                    ? "; curves are their medians, bands the "
                      "middle 80 %; attempts of single clients are "
                      "those of the first run"
                    : "");
    fprintf(p->out, ". The same seed gives the same page.");
    if (p->s->cut_short)
        fputs(" It was stopped before its time.", p->out);
    if (p->ctx->version) {
        fputs(" bide ", p->out);
        page_text(p->out, p->ctx->version);
        fputs(".", p->out);
    }
    fputs("</p>\n</footer>\n", p->out);
}
