/* The stability map: load against the size of the trigger, and the fate of the
 * system for each. Colours and words say the same. */
#include "sim/report/map.h"

#include "sim/report/heat.h"
#include "sim/report/parts.h"
#include "sim/report/plot/row.h"
#include "sim/report/text.h"

static void cell(struct page *p, const struct sim_cell *c)
{
    char text[PAGE_TEXT];

    fprintf(p->out, "<td class=\"%s\">%s", page_fate_class(c),
            page_fate_text(text, c));
    if (c->fate == SIM_FATE_NEVER)
        fprintf(p->out, " <small>%u of %u</small>", c->stuck, c->runs);
    fputs("</td>", p->out);
}

static void foot(struct page *p, const struct sim_page_map *m)
{
    fputs("<tr><th class=\"axis\">", p->out);
    page_text(p->out, m->y.name);
    fputs(" ↑<br>", p->out);
    page_text(p->out, m->x.name);
    fputs(" →</th>", p->out);
    for (uint32_t i = 0; i < m->x.n; i++) {
        fputs("<th scope=\"col\">", p->out);
        page_text(p->out, m->x.ticks[i]);
        fputs("</th>", p->out);
    }
    fputs("</tr>\n", p->out);
}

static void map(struct page *p, const struct sim_page_map *m)
{
    fputs("<div class=\"scroll\"><table class=\"map fates\">", p->out);
    if (m->variant && *m->variant) {
        fputs("<caption><b>", p->out);
        page_text(p->out, m->variant);
        fputs("</b></caption>\n", p->out);
    }
    for (uint32_t j = m->y.n; j-- > 0;) {
        fputs("<tr><th scope=\"row\">", p->out);
        page_text(p->out, m->y.ticks[j]);
        fputs("</th>", p->out);
        for (uint32_t i = 0; i < m->x.n; i++)
            cell(p, &m->cells[(size_t)j * m->x.n + i]);
        fputs("</tr>\n", p->out);
    }
    foot(p, m);
    fputs("</table></div>\n", p->out);
}

void page_maps(struct page *p)
{
    if (p->ctx->n_maps == 0)
        return;
    page_row_open(p, "Stability",
                  "Load across, the size of the trigger upward. Green recovers "
                  "in every run; the time is the mean. Amber is vulnerable: it "
                  "recovers late, or stays down in so many of the runs. Red "
                  "recovered in no run, compared with the same run without the "
                  "trigger. Grey is overloaded: too much even without it.");
    fputs("<div class=\"maps\">\n", p->out);
    for (uint32_t i = 0; i < p->ctx->n_maps; i++)
        map(p, &p->ctx->maps[i]);
    fputs("</div>\n", p->out);
    page_row_close(p);
}
