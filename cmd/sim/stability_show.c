/* The map of load against the length of a hit, for people. */
#include "base/people.h"
#include "cmd/common/output.h"
#include "cmd/sim/stability.h"
#include "cmd/sim/table.h"

/* ===== for people ===== */

static void print_fate(enum sim_fate fate, int width)
{
    static const char *const plain[] = { "?", ".", "o", "#", "x" };
    static const char *const blocks[] = { "?", "\u00b7", "\u2592", "\u2588",
                                          "\u00d7" };
    const char *sign = (use_utf8() ? blocks : plain)[fate];
    struct paint p = paint_for(stdout);
    const char *colour = fate == SIM_FATE_RECOVERS     ? p.green
                         : fate == SIM_FATE_VULNERABLE ? p.yellow
                         : fate == SIM_FATE_NEVER      ? p.red
                                                       : "";
    int signs =
        fate == SIM_FATE_VULNERABLE || fate == SIM_FATE_NEVER ? width - 1 : 1;

    printf("%*s%s", width - signs, "", colour);
    for (int i = 0; i < signs; i++)
        fputs(sign, stdout);
    fputs(*colour ? p.plain : "", stdout);
}

static int head_width(const struct sim_axis *a)
{
    int width = 0;

    for (uint32_t i = 0; i < a->n; i++)
        if (text_width(a->values[i]) > width)
            width = text_width(a->values[i]);
    return width;
}

/* The longest hit is at the top; loads increase to the right. */
static void print_map(const struct stability_cmd *c, uint32_t v, int width)
{
    int head = head_width(&c->triggers), cell = head_width(&c->loads) + 1;
    uint32_t fit = (uint32_t)((width - head) / cell);
    struct paint p = paint_for(stdout);

    fit = fit ? fit : 1;
    for (uint32_t from = 0; from < c->loads.n; from += fit) {
        uint32_t to = from + fit < c->loads.n ? from + fit : c->loads.n;
        for (uint32_t y = c->triggers.n; y-- > 0;) {
            print_padded(stdout, c->triggers.values[y], head, true);
            for (uint32_t x = from; x < to; x++)
                print_fate(sim_stability_at(c->map, v, x, y)->fate, cell);
            putchar('\n');
        }
        printf("%s%*s", p.dim, head, "");
        for (uint32_t x = from; x < to; x++)
            print_padded(stdout, c->loads.values[x], cell, true);
        printf("%s\n", p.plain);
    }
}

static void print_legend(const struct sim_stability *s, int width)
{
    bool utf8 = use_utf8();
    char line[600];
    double low, high;

    sim_wilson(s->seeds, s->seeds, &low, &high);

    snprintf(
        line, sizeof line,
        "%s recovers in every run; %s vulnerable: not in every run, or "
        "after more than three times the length of the hit (10 s at "
        "least); %s in no run (%s%u of %u: at least %.0f%% of all, with 95%% "
        "confidence); %s overloaded: too much even without a hit. Each run "
        "is compared with the same run without the hit. Across: load, of "
        "what can just be served without retries. Up: how long the hit "
        "lasts.",
        utf8 ? "\u00b7" : ".", utf8 ? "\u2592" : "o", utf8 ? "\u2588" : "#",
        s->seeds == 1 ? "" : "all ", s->seeds, s->seeds, 100 * low,
        utf8 ? "\u00d7" : "x");
    bide__print_wrapped(stdout, line, 0, 0, width);
}

void stability_print(const struct stability_cmd *c)
{
    struct paint p = paint_for(stdout);
    const struct sim_stability *s = c->map;
    int width = terminal_width(stdout);
    char line[300];

    print_title(c->model->title ? c->model->title : c->ask->subjects[0].name);
    snprintf(line, sizeof line,
             "A load of 100%% is %.3g calls a second; %u "
             "run%s for each cell, seed %llu%s",
             s->capacity, s->seeds, s->seeds == 1 ? "" : "s",
             (unsigned long long)s->seed,
             s->cut_short ? "; cut short: this is what is known so far" : "");
    bide__print_wrapped(stdout, line, 0, 0, width);
    for (uint32_t v = 0; v < s->n_variants; v++) {
        printf("\n%s", p.bold);
        if (*sim_model_variant_name(c->model, v))
            bide__print_wrapped(stdout, sim_model_variant_name(c->model, v), 0,
                                0, width);
        printf("%s", p.plain);
        print_map(c, v, width);
    }
    putchar('\n');
    print_legend(s, width);
}
