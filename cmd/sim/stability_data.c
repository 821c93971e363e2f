/* The map of load against the size of a hit, as JSON, as CSV and for the
 * report. */
#include "cmd/sim/stability.h"

enum { MOST_MAPS = MOST_NAMED };

/* ===== for machines ===== */

static void put_cell(const struct stability_cmd *c, struct bide__json *j,
                     uint32_t v, uint32_t x, uint32_t y)
{
    const struct sim_page_cell *cell = sim_stability_at(c->map, v, x, y);

    bide__json_object(j, NULL);
    bide__json_number(j, "load", c->map->loads[x]);
    bide__json_number(j, "trigger_s", (double)c->map->lengths_ns[y] / 1e9);
    bide__json_text(j, "fate", sim_fate_name(cell->fate));
    bide__json_integer(j, "runs", cell->runs);
    bide__json_integer(j, "stuck", cell->stuck);
    bide__json_number(j, "recover_s", cell->recover_s);
    bide__json_end(j);
}

void stability_json(const struct stability_cmd *c)
{
    struct bide__json j;

    json_begin(&j, c->ask, c->model, c->map->seed, c->map->seeds);
    bide__json_flag(&j, "cut_short", c->map->cut_short);
    bide__json_number(&j, "capacity_per_second", c->map->capacity);
    bide__json_list(&j, "maps");
    for (uint32_t v = 0; v < c->map->n_variants; v++) {
        bide__json_object(&j, NULL);
        bide__json_text(&j, "variant", variant_name(c, v));
        bide__json_list(&j, "cells");
        for (uint32_t i = 0; i < c->loads.n * c->triggers.n; i++)
            put_cell(c, &j, v, i % c->loads.n, i / c->loads.n);
        bide__json_end(&j);
        bide__json_end(&j);
    }
    bide__json_end(&j);
    bide__json_end(&j);
    bide__json_done(&j);
}

int stability_csv(const struct stability_cmd *c)
{
    FILE *out = c->ask->csv ? csv_open(c->ask->csv, "stability.csv") : NULL;
    uint32_t each = c->loads.n * c->triggers.n;

    if (!out)
        return c->ask->csv ? EXIT_USAGE : -1;
    fputs("variant,load,trigger_s,fate,runs,stuck,recover_s\r\n", out);
    for (uint32_t i = 0; i < each * c->map->n_variants; i++) {
        uint32_t x = i % c->loads.n, y = i / c->loads.n % c->triggers.n;
        const struct sim_page_cell *cell =
            sim_stability_at(c->map, i / each, x, y);

        csv_text(out, variant_name(c, i / each));
        putc(',', out);
        csv_number(out, c->map->loads[x]);
        putc(',', out);
        csv_number(out, (double)c->map->lengths_ns[y] / 1e9);
        fprintf(out, ",%s,%u,%u,", sim_fate_name(cell->fate), cell->runs,
                cell->stuck);
        csv_number(out, cell->recover_s);
        fputs("\r\n", out);
    }
    return csv_close(out, c->ask->csv);
}

int stability_html(const struct stability_cmd *c)
{
    struct sim_page_map maps[MOST_MAPS];
    struct sim_summary empty = { .model = c->model,
                                 .seed = c->map->seed,
                                 .replications = c->map->seeds,
                                 .cut_short = c->map->cut_short };
    struct sim_page_context ctx = { .command = c->ask->command,
                                    .version = bide_version(),
                                    .maps = maps };

    for (uint32_t v = 0; v < c->map->n_variants && v < MOST_MAPS; v++) {
        maps[v] = (struct sim_page_map){
            .variant = variant_name(c, v),
            .x = { "load", (const char *const *)c->loads.values, c->loads.n },
            .y = { "trigger", (const char *const *)c->triggers.values,
                   c->triggers.n },
            .cells = sim_stability_at(c->map, v, 0, 0)
        };
        ctx.n_maps++;
    }
    return html_write(c->ask, &empty, &ctx);
}
