/* A sweep for machines, and for the report. */
#include <stdlib.h>

#include "cmd/sim/sweep.h"

enum { MOST_GRIDS = 128 };

/* ===== for machines ===== */

void sweep_json(const struct sweep_cmd *c)
{
    const struct sim_sweep *s = c->sweep;
    struct bide__json j;

    json_begin(&j, c->ask, c->model, s->seed, s->replications);
    bide__json_flag(&j, "cut_short", s->cut_short);
    bide__json_list(&j, "axes");
    for (uint32_t a = 0; a < s->n_axes; a++) {
        bide__json_object(&j, NULL);
        bide__json_text(&j, "key", c->axes[a].key);
        bide__json_list(&j, "values");
        for (uint32_t i = 0; i < c->axes[a].n; i++)
            bide__json_text(&j, NULL, c->axes[a].values[i]);
        bide__json_end(&j);
        bide__json_end(&j);
    }
    bide__json_end(&j);
    bide__json_list(&j, "points");
    for (uint32_t i = 0; i < s->n_points * c->n_names; i++) {
        uint32_t point = i / c->n_names, x = point % c->axes[0].n;
        bide__json_object(&j, NULL);
        bide__json_text(&j, "variant", c->names[i % c->n_names]);
        bide__json_text(&j, c->axes[0].key, c->axes[0].values[x]);
        if (s->n_axes > 1)
            bide__json_text(&j, c->axes[1].key,
                            c->axes[1].values[point / c->axes[0].n]);
        json_figures(&j,
                     sim_sweep_at(s, x, point / c->axes[0].n, i % c->n_names));
        bide__json_end(&j);
    }
    bide__json_end(&j);
    bide__json_end(&j);
    bide__json_done(&j);
}

static void write_point(const struct sweep_cmd *c, FILE *out, uint32_t point,
                        uint32_t v)
{
    uint32_t x = point % c->axes[0].n, y = point / c->axes[0].n;
    const struct sim_interval *figures = sim_sweep_at(c->sweep, x, y, v);

    for (int f = 0; f < SIM_FIGURES; f++) {
        csv_text(out, c->names[v]);
        putc(',', out);
        csv_text(out, c->axes[0].values[x]);
        if (c->sweep->n_axes > 1) {
            putc(',', out);
            csv_text(out, c->axes[1].values[y]);
        }
        fprintf(out, ",%s,%s,", sim_figure_name((enum sim_figure)f),
                unit_name((enum sim_figure)f));
        csv_number(out, figures[f].mean);
        putc(',', out);
        csv_number(out, figures[f].low);
        putc(',', out);
        csv_number(out, figures[f].high);
        fprintf(out, ",%u,%u\r\n", figures[f].n, figures[f].infinite);
    }
}

int sweep_csv(const struct sweep_cmd *c)
{
    FILE *out = c->ask->csv ? csv_open(c->ask->csv, "sweep.csv") : NULL;

    if (!out)
        return c->ask->csv ? EXIT_USAGE : -1;
    fputs("variant,", out);
    csv_text(out, c->axes[0].key);
    if (c->sweep->n_axes > 1) {
        putc(',', out);
        csv_text(out, c->axes[1].key);
    }
    fputs(",figure,unit,mean,low,high,n,infinite\r\n", out);
    for (uint32_t i = 0; i < c->sweep->n_points * c->n_names; i++)
        write_point(c, out, i / c->n_names, i % c->n_names);
    return csv_close(out, c->ask->csv);
}

/* ===== the report ===== */

static struct sim_page_axis page_axis(const struct sim_axis *a)
{
    return (struct sim_page_axis){ a->key, (const char *const *)a->values,
                                   a->n };
}

static struct sim_interval *pick_cells(const struct sweep_cmd *c, uint32_t v,
                                       enum sim_figure f)
{
    struct sim_interval *cells = calloc(c->sweep->n_points, sizeof *cells);

    for (uint32_t i = 0; cells && i < c->sweep->n_points; i++)
        cells[i] =
            sim_sweep_at(c->sweep, i % c->axes[0].n, i / c->axes[0].n, v)[f];
    return cells;
}

int sweep_html(const struct sweep_cmd *c)
{
    static const char *const one_tick[] = { "" };
    struct sim_page_grid grids[MOST_GRIDS];
    struct sim_interval *cells[MOST_GRIDS];
    struct sim_summary empty = { .model = c->model,
                                 .seed = c->sweep->seed,
                                 .replications = c->sweep->replications,
                                 .cut_short = c->sweep->cut_short };
    struct sim_page_context ctx = { .command = c->ask->command,
                                    .version = bide_version(),
                                    .grids = grids };
    uint32_t n_figures = c->chosen ? 1 : N_USUAL;

    if (!c->ask->html)
        return -1;
    for (uint32_t f = 0; f < n_figures; f++) {
        for (uint32_t v = 0; v < c->n_names && ctx.n_grids < MOST_GRIDS; v++) {
            enum sim_figure figure = c->chosen ? c->metric : usual_figures[f];
            uint32_t n = ctx.n_grids++;
            cells[n] = pick_cells(c, v, figure);
            grids[n] = (struct sim_page_grid){ .variant = c->names[v],
                                               .figure = figure,
                                               .x = page_axis(&c->axes[0]),
                                               .y = { NULL, one_tick, 1 },
                                               .cells = cells[n] };
            if (c->sweep->n_axes > 1)
                grids[n].y = page_axis(&c->axes[1]);
        }
    }
    int rc = html_write(c->ask, &empty, &ctx);
    for (uint32_t i = 0; i < ctx.n_grids; i++)
        free(cells[i]);
    return rc;
}
