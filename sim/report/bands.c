/* Lists the series that machines get as bands. */
#include "sim/report/bands.h"

#include "sim/report/plot/band.h"

static const struct {
    const char *series, *unit;
    page_get *get;
    enum sim_caller_channel channel;
} of_clients[] = {
    { "attempts", "per_second", page_of_fleets, SIM_ATTEMPTS },
    { "successes", "per_second", page_of_fleets, SIM_SUCCESSES },
    { "failures", "per_second", page_of_fleets, SIM_FAILURES },
    { "in_progress", "count", page_level_of_fleets, SIM_IN_PROGRESS },
};

static const struct {
    const char *series, *unit;
    page_get *get;
} of_services[] = {
    { "arrived", "per_second", page_arrivals },
    { "queue", "count", page_queue },
};

/* Of one run, the range is the line. */
static void show_band(const struct sim_summary *s, uint32_t v, page_get *get,
                      uint32_t what, struct sim_band *b,
                      void (*show)(void *self, const struct sim_band *band),
                      void *self)
{
    struct page_curve c =
        page_band(s, v, get, what, s->variants[v].first->n_steps);

    if (!c.y)
        return;
    b->curve = c;
    b->runs = s->variants[v].n_runs;
    if (!c.low)
        b->curve.low = b->curve.high = c.y;
    show(self, b);
    page_curve_done(&c);
}

void sim_bands(const struct sim_summary *s, uint32_t v,
               void (*show)(void *self, const struct sim_band *band),
               void *self)
{
    const struct sim_result *r = s->variants[v].first;
    struct sim_band b = { .of = "clients" };

    if (r->n_steps == 0)
        return;
    for (size_t i = 0; i < sizeof of_clients / sizeof *of_clients; i++) {
        b.series = of_clients[i].series;
        b.unit = of_clients[i].unit;
        show_band(s, v, of_clients[i].get, of_clients[i].channel, &b, show,
                  self);
    }
    for (uint32_t k = 0; k < r->model->n_services; k++)
        for (size_t i = 0; i < sizeof of_services / sizeof *of_services; i++) {
            b.of = r->services[k].name;
            b.series = of_services[i].series;
            b.unit = of_services[i].unit;
            show_band(s, v, of_services[i].get, k, &b, show, self);
        }
}
