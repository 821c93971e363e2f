/* Profiles: steps made into a chain of straight lines, and the area below it. */
#include "sim/model/profile.h"

#include <stdlib.h>

#include "sim/model/memory.h"
#include "sim/model/number.h"

/* ===== lines ===== */

static void add_line(struct sim_rates *r, int64_t at_ns, double rate,
                     double slope)
{
    if (r->n > 0 && r->lines[r->n - 1].at_ns == at_ns)
        r->n--; /* it would have no length */
    r->lines = sim_grow(r->lines, r->n, &r->room, sizeof *r->lines);
    r->lines[r->n++] = (struct sim_rate_line){ at_ns, rate, slope };
}

/* The change from one rate to another, from `at` on. */
static void change(struct sim_rates *r, int64_t at_ns, int64_t over_ns,
                   double from, double to)
{
    if (over_ns > 0)
        add_line(r, at_ns, from, (to - from) / (double)over_ns);
    add_line(r, at_ns + over_ns, to, 0);
}

/* One pass through the steps; returns the rate after it. */
static double pass(struct sim_rates *r, const struct sim_profile *p,
                   int64_t begin_ns, double rate)
{
    for (size_t i = 0; i < p->n_steps; i++) {
        const struct sim_rate_step *s = &p->steps[i];
        double to = s->rate * p->factor / 1e9;

        change(r, begin_ns + s->at_ns, s->over_ns, rate, to);
        if (s->for_ns > 0)
            add_line(r, begin_ns + s->at_ns + s->for_ns, rate, 0);
        else
            rate = to;
    }
    return rate;
}

void sim_rates_init(struct sim_rates *r, const struct sim_profile *p,
                    double rate, int64_t duration_ns)
{
    double now = rate / 1e9;

    *r = (struct sim_rates){ 0 };
    add_line(r, 0, now, 0);
    for (int64_t begin = 0; begin < duration_ns; begin += p->repeat_ns) {
        now = pass(r, p, begin, now);
        if (p->repeat_ns <= 0)
            break;
    }
}

void sim_rates_done(struct sim_rates *r)
{
    free(r->lines);
}

/* ===== the area below ===== */

static int64_t end_of(const struct sim_rates *r, uint32_t i)
{
    return i + 1 < r->n ? r->lines[i + 1].at_ns : INT64_MAX;
}

static double rate_on(const struct sim_rate_line *l, int64_t at_ns)
{
    double rate = l->rate + l->slope * (double)(at_ns - l->at_ns);

    return rate > 0 ? rate : 0;
}

/* The last line is flat, and has no end. */
static double area_of(const struct sim_rates *r, uint32_t i, int64_t from_ns,
                      int64_t to_ns)
{
    const struct sim_rate_line *l = &r->lines[i];
    double mean = rate_on(l, from_ns);

    if (l->slope != 0)
        mean = (mean + rate_on(l, to_ns)) / 2;
    return mean * (double)(to_ns - from_ns);
}

/* How long it takes on a line, from a rate on: the root of
 * rate t + slope t^2 / 2 = area, in the form that does not cancel. */
static double time_for(double rate, double slope, double area)
{
    double root = rate * rate + 2 * slope * area;

    return 2 * area / (rate + sim_sqrt(root > 0 ? root : 0));
}

int64_t sim_rates_next(struct sim_rates *r, int64_t from_ns, double area)
{
    for (;; from_ns = r->lines[++r->at].at_ns) {
        while (end_of(r, r->at) <= from_ns)
            r->at++;
        const struct sim_rate_line *l = &r->lines[r->at];
        int64_t end = end_of(r, r->at);
        double here = area_of(r, r->at, from_ns, end);

        if (here >= area) {
            double took = time_for(rate_on(l, from_ns), l->slope, area) + 0.5;
            double most = (double)(end - from_ns);
            if (took > most)
                took = most;
            return took < 0x1p62 ? from_ns + (int64_t)took : INT64_MAX;
        }
        if (end == INT64_MAX)
            return INT64_MAX;
        area -= here;
    }
}

double sim_rates_at(const struct sim_rates *r, int64_t at_ns)
{
    uint32_t i = 0;

    while (end_of(r, i) <= at_ns)
        i++;
    return rate_on(&r->lines[i], at_ns) * 1e9;
}

double sim_profile_mean(const struct sim_profile *p, double rate,
                        int64_t duration_ns)
{
    struct sim_rates r;
    double area = 0;

    sim_rates_init(&r, p, rate, duration_ns);
    for (uint32_t i = 0; i < r.n && r.lines[i].at_ns < duration_ns; i++) {
        int64_t end = end_of(&r, i);
        area += area_of(&r, i, r.lines[i].at_ns,
                        end < duration_ns ? end : duration_ns);
    }
    sim_rates_done(&r);
    return area / (double)duration_ns * 1e9;
}
