/* A sweep for machines, and for the report. */
#include "sim/report/sweep.h"

#include <stdlib.h>

#include "sim/model/memory.h"
#include "sim/report/csv.h"
#include "sim/report/json.h"
#include "sim/study/figure_text.h"

enum { MOST_GRIDS = 128 };

/* ===== for machines ===== */

static void put_axes(struct bide__json *j, const struct sim_sweep *s)
{
    bide__json_list(j, "axes");
    for (uint32_t a = 0; a < s->n_axes; a++) {
        bide__json_object(j, NULL);
        bide__json_text(j, "key", s->axes[a].key);
        bide__json_list(j, "values");
        for (uint32_t i = 0; i < s->axes[a].n; i++)
            bide__json_text(j, NULL, s->axes[a].values[i]);
        bide__json_end(j);
        bide__json_end(j);
    }
    bide__json_end(j);
}

static void put_point(struct bide__json *j, const struct sim_sweep *s,
                      uint32_t point, uint32_t v)
{
    uint32_t x = point % s->axes[0].n, y = point / s->axes[0].n;

    bide__json_object(j, NULL);
    bide__json_text(j, "variant", sim_model_variant_name(s->model, v));
    bide__json_text(j, s->axes[0].key, s->axes[0].values[x]);
    if (s->n_axes > 1)
        bide__json_text(j, s->axes[1].key, s->axes[1].values[y]);
    sim_json_figures(j, sim_sweep_at(s, x, y, v));
    bide__json_end(j);
}

void sim_json_sweep(struct bide__json *j, const struct sim_sweep *s)
{
    bide__json_flag(j, "cut_short", s->cut_short);
    put_axes(j, s);
    bide__json_list(j, "points");
    for (uint32_t i = 0; i < s->n_points * s->n_variants; i++)
        put_point(j, s, i / s->n_variants, i % s->n_variants);
    bide__json_end(j);
}

static void write_point(FILE *out, const struct sim_sweep *s, uint32_t point,
                        uint32_t v)
{
    uint32_t x = point % s->axes[0].n, y = point / s->axes[0].n;
    const struct sim_interval *figures = sim_sweep_at(s, x, y, v);

    for (int f = 0; f < SIM_FIGURES; f++) {
        sim_csv_text(out, sim_model_variant_name(s->model, v));
        putc(',', out);
        sim_csv_text(out, s->axes[0].values[x]);
        if (s->n_axes > 1) {
            putc(',', out);
            sim_csv_text(out, s->axes[1].values[y]);
        }
        fprintf(out, ",%s,%s,", sim_figure_name((enum sim_figure)f),
                sim_figure_unit_name((enum sim_figure)f));
        sim_csv_number(out, figures[f].mean);
        putc(',', out);
        sim_csv_number(out, figures[f].low);
        putc(',', out);
        sim_csv_number(out, figures[f].high);
        fprintf(out, ",%u,%u,%u\r\n", figures[f].n, figures[f].infinite,
                figures[f].overloaded);
    }
}

void sim_csv_sweep(FILE *out, const struct sim_sweep *s)
{
    fputs("variant,", out);
    sim_csv_text(out, s->axes[0].key);
    if (s->n_axes > 1) {
        putc(',', out);
        sim_csv_text(out, s->axes[1].key);
    }
    fputs(",figure,unit,mean,low,high,n,infinite,overloaded\r\n", out);
    for (uint32_t i = 0; i < s->n_points * s->n_variants; i++)
        write_point(out, s, i / s->n_variants, i % s->n_variants);
}

/* ===== the report ===== */

static struct sim_page_axis page_axis(const struct sim_axis *a)
{
    return (struct sim_page_axis){ a->key, (const char *const *)a->values,
                                   a->n };
}

static struct sim_interval *pick_cells(const struct sim_sweep *s, uint32_t v,
                                       enum sim_figure f)
{
    struct sim_interval *cells = sim_new(s->n_points, sizeof *cells);

    for (uint32_t i = 0; i < s->n_points; i++)
        cells[i] = sim_sweep_at(s, i % s->axes[0].n, i / s->axes[0].n, v)[f];
    return cells;
}

static struct sim_page_grid make_grid(const struct sim_sweep *s, uint32_t v,
                                      enum sim_figure f)
{
    static const char *const one_tick[] = { "" };

    return (struct sim_page_grid){
        .variant = sim_model_variant_name(s->model, v),
        .figure = f,
        .x = page_axis(&s->axes[0]),
        .y = s->n_axes > 1 ? page_axis(&s->axes[1])
                           : (struct sim_page_axis){ NULL, one_tick, 1 },
        .cells = pick_cells(s, v, f)
    };
}

int sim_page_sweep(sim_page_writer *write, FILE *out, const struct sim_sweep *s,
                   const enum sim_figure *figures, uint32_t n,
                   struct sim_page_context ctx)
{
    struct sim_summary empty = { .model = s->model,
                                 .seed = s->seed,
                                 .replications = s->replications,
                                 .cut_short = s->cut_short };
    struct sim_page_grid grids[MOST_GRIDS];
    int rc;

    ctx.grids = grids;
    for (uint32_t f = 0; f < n; f++)
        for (uint32_t v = 0; v < s->n_variants && ctx.n_grids < MOST_GRIDS; v++)
            grids[ctx.n_grids++] = make_grid(s, v, figures[f]);
    rc = write(out, &empty, &ctx);
    for (uint32_t i = 0; i < ctx.n_grids; i++)
        free((void *)grids[i].cells);
    return rc;
}
