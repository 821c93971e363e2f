/* Lists the rows of the table that are worth reading. */
#include "cmd/sim/table_rows.h"

#include <math.h>

static const enum sim_figure of_fleets[] = {
    SIM_FIG_SUCCESS, SIM_FIG_UNFINISHED, SIM_FIG_AMPLIFICATION,
    SIM_FIG_MEAN,    SIM_FIG_P99,        SIM_FIG_ALL_BACK,
};

static const enum sim_figure of_services[] = { SIM_FIG_UTILISATION,
                                               SIM_FIG_QUEUE_WAIT };

const struct sim_interval *table_cell(const struct sim_summary *s, uint32_t v,
                                      const struct table_row *row)
{
    const struct sim_variant_summary *of = &s->variants[v];

    switch (row->part) {
    case TABLE_MODEL:
        return &of->figure[row->figure];
    case TABLE_FLEET:
        return &of->fleets[row->number * SIM_FIGURES + row->figure];
    case TABLE_SERVICE:
        return row->figure == SIM_FIG_QUEUE_WAIT
                   ? &of->services[row->number].queue_wait
                   : &of->services[row->number].utilisation;
    case TABLE_HEADING:
        break;
    }
    return NULL;
}

/* What is zero in all variants of most models. */
static bool is_rare(enum sim_figure f)
{
    return f == SIM_FIG_HEDGES || f == SIM_FIG_UNFINISHED ||
           f == SIM_FIG_OVERLOADED;
}

static bool says_something(const struct sim_summary *s,
                           const struct table_row *row)
{
    bool any = false, other = false, zero = true;

    for (uint32_t v = 0; v < s->n_variants; v++) {
        const struct sim_interval *i = table_cell(s, v, row);
        double amplified = s->variants[v].figure[SIM_FIG_AMPLIFICATION].mean;

        any = any || i->n || i->infinite || i->overloaded;
        zero = zero && !(fabs(i->mean) > 0);
        other = other || fabs(i->mean - amplified) > 1e-9;
    }
    if (is_rare(row->figure))
        return any && !zero;
    if (row->figure == SIM_FIG_DEEPEST) /* the same if there is one level */
        return any && other;
    return any;
}

/* Whether all variants are of one model: then they have the same parts. */
static bool is_alike(const struct sim_summary *s)
{
    for (uint32_t v = 0; v < s->n_variants; v++)
        if (s->variants[v].first->model != s->model || !s->variants[v].fleets ||
            !s->variants[v].services)
            return false;
    return true;
}

static void add(const struct sim_summary *s, struct table_row *rows,
                uint32_t *n, struct table_row row)
{
    if (*n < TABLE_ROWS &&
        (row.part == TABLE_HEADING || says_something(s, &row)))
        rows[(*n)++] = row;
}

/* A heading that nothing follows is taken back. */
static void add_part(const struct sim_summary *s, struct table_row *rows,
                     uint32_t *n, struct table_row heading,
                     enum table_part part, const enum sim_figure *figures,
                     size_t n_figures)
{
    uint32_t before = *n;

    add(s, rows, n, heading);
    for (size_t i = 0; i < n_figures; i++)
        add(s, rows, n,
            (struct table_row){ sim_figure_head(figures[i]), part,
                                heading.number, figures[i] });
    if (*n == before + 1)
        *n = before;
}

uint32_t table_rows(const struct sim_summary *s,
                    struct table_row rows[TABLE_ROWS])
{
    const struct sim_model *m = s->model;
    uint32_t n = 0;

    for (int f = 0; f < SIM_FIGURES; f++)
        add(s, rows, &n,
            (struct table_row){ sim_figure_head((enum sim_figure)f),
                                TABLE_MODEL, 0, (enum sim_figure)f });
    for (uint32_t i = 0; is_alike(s) && m->n_fleets > 1 && i < m->n_fleets; i++)
        add_part(s, rows, &n,
                 (struct table_row){ m->fleets[i].name, TABLE_HEADING, i,
                                     SIM_FIGURES },
                 TABLE_FLEET, of_fleets, sizeof of_fleets / sizeof *of_fleets);
    for (uint32_t i = 0; is_alike(s) && m->n_services > 1 && i < m->n_services;
         i++)
        add_part(s, rows, &n,
                 (struct table_row){ m->services[i].name, TABLE_HEADING, i,
                                     SIM_FIGURES },
                 TABLE_SERVICE, of_services,
                 sizeof of_services / sizeof *of_services);
    return n;
}
