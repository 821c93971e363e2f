/* The map of load against the length of a fault, as JSON, as CSV and for the
 * report. */
#include "sim/report/stability.h"

#include <stdlib.h>

#include "sim/model/memory.h"
#include "sim/report/csv.h"

/* ===== for machines ===== */

static void put_cell(struct bide__json *j, const struct sim_stability *s,
                     uint32_t v, uint32_t x, uint32_t y)
{
    const struct sim_cell *cell = sim_stability_at(s, v, x, y);

    bide__json_object(j, NULL);
    bide__json_number(j, "load", s->loads[x]);
    bide__json_number(j, "trigger_s", (double)s->lengths_ns[y] / 1e9);
    bide__json_text(j, "fate", sim_fate_name(cell->fate));
    bide__json_integer(j, "runs", cell->runs);
    bide__json_integer(j, "stuck", cell->stuck);
    bide__json_number(j, "stuck_low", cell->low);
    bide__json_number(j, "stuck_high", cell->high);
    bide__json_integer(j, "overloaded", cell->overloaded);
    bide__json_number(j, "watched_s", cell->watched_s);
    bide__json_number(j, "recover_s", cell->recover_s);
    bide__json_end(j);
}

void sim_json_stability(struct bide__json *j, const struct sim_stability *s)
{
    bide__json_flag(j, "cut_short", s->cut_short);
    bide__json_number(j, "capacity_per_second", s->capacity);
    bide__json_list(j, "maps");
    for (uint32_t v = 0; v < s->n_variants; v++) {
        bide__json_object(j, NULL);
        bide__json_text(j, "variant", sim_model_variant_name(s->model, v));
        bide__json_list(j, "cells");
        for (uint32_t i = 0; i < s->n_loads * s->n_lengths; i++)
            put_cell(j, s, v, i % s->n_loads, i / s->n_loads);
        bide__json_end(j);
        bide__json_end(j);
    }
    bide__json_end(j);
}

void sim_csv_stability(FILE *out, const struct sim_stability *s)
{
    uint32_t each = s->n_loads * s->n_lengths;

    fputs("variant,load,trigger_s,fate,runs,stuck,recover_s,stuck_low,"
          "stuck_high,overloaded,watched_s\r\n",
          out);
    for (uint32_t i = 0; i < each * s->n_variants; i++) {
        uint32_t x = i % s->n_loads, y = i / s->n_loads % s->n_lengths;
        const struct sim_cell *cell = sim_stability_at(s, i / each, x, y);

        sim_csv_text(out, sim_model_variant_name(s->model, i / each));
        putc(',', out);
        sim_csv_number(out, s->loads[x]);
        putc(',', out);
        sim_csv_number(out, (double)s->lengths_ns[y] / 1e9);
        fprintf(out, ",%s,%u,%u,", sim_fate_name(cell->fate), cell->runs,
                cell->stuck);
        sim_csv_number(out, cell->recover_s);
        putc(',', out);
        sim_csv_number(out, cell->low);
        putc(',', out);
        sim_csv_number(out, cell->high);
        fprintf(out, ",%u,", cell->overloaded);
        sim_csv_number(out, cell->watched_s);
        fputs("\r\n", out);
    }
}

int sim_page_stability(sim_page_writer *write, FILE *out,
                       const struct sim_stability *s,
                       const struct sim_axis *loads,
                       const struct sim_axis *triggers,
                       struct sim_page_context ctx)
{
    struct sim_page_map *maps = sim_new(s->n_variants, sizeof *maps);
    struct sim_summary empty = { .model = s->model,
                                 .seed = s->seed,
                                 .replications = s->seeds,
                                 .cut_short = s->cut_short };
    int rc;

    for (uint32_t v = 0; v < s->n_variants; v++)
        maps[v] = (struct sim_page_map){
            .variant = sim_model_variant_name(s->model, v),
            .x = { "load", (const char *const *)loads->values, loads->n },
            .y = { "trigger", (const char *const *)triggers->values,
                   triggers->n },
            .cells = sim_stability_at(s, v, 0, 0)
        };
    ctx.maps = maps;
    ctx.n_maps = s->n_variants;
    rc = write(out, &empty, &ctx);
    free(maps);
    return rc;
}
