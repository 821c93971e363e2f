/* Summarizes replications: means and their confidence intervals. */
#include "sim/study/summary.h"

#include <math.h>
#include <stdlib.h>

#include "sim/model/number.h"
#include "sim/study/figure_text.h"

/* ===== intervals ===== */

/* 95 % of a normal variable are within so many standard deviations. */
static const double normal = 1.959964;

/* Student's t for 95 %, two-sided; beyond the table, the first terms of its
 * expansion, which are accurate to four digits there. */
static double student(uint32_t freedom)
{
    static const double table[] = {
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
        2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
        2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    };
    const double z = normal, z3 = z * z * z, z5 = z3 * z * z;
    double n = freedom;

    if (freedom <= sizeof table / sizeof table[0])
        return table[freedom - 1];
    return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n);
}

/* Wilson's interval of a share p of n trials, which lies within 0..1; z is how
 * many standard errors wide it is to each side. */
static void wilson(double p, double n, double z, double *low, double *high)
{
    double zz = z * z / n, middle = (p + zz / 2) / (1 + zz);
    double half = z * sim_sqrt(p * (1 - p) / n + zz / (4 * n)) / (1 + zz);

    *low = p <= 0 ? 0 : middle - half;
    *high = p >= 1 ? 1 : middle + half;
}

void sim_wilson(uint32_t k, uint32_t n, double *low, double *high)
{
    *low = 0;
    *high = 1;
    if (n > 0)
        wilson((double)k / n, n, normal, low, high);
}

/* The standard error of the mean. */
static double error_of(const struct sim_interval *i, const double *values,
                       uint32_t n)
{
    double sum = 0;

    for (uint32_t k = 0; k < n; k++)
        if (isfinite(values[k]))
            sum += (values[k] - i->mean) * (values[k] - i->mean);
    return sim_sqrt(sum / (i->n - 1.0) / i->n);
}

static void spread(enum sim_figure f, struct sim_interval *i,
                   const double *values, uint32_t n)
{
    double error, t, rest;

    i->low = i->high = i->mean;
    if (i->n < 2)
        return;
    error = error_of(i, values, n);
    t = student(i->n - 1);
    rest = i->mean * (1 - i->mean);
    if (!(error > 0))
        return;
    if (sim_figure_unit(f) == SIM_SHARE && rest > 0) {
        wilson(i->mean, rest / (error * error), t, &i->low, &i->high);
    } else if (i->mean > 0) {
        i->high = i->mean + t * error;
        i->low = i->mean * (i->mean / i->high);
    }
}

struct sim_interval sim_interval_of(enum sim_figure f, const double *values,
                                    uint32_t n)
{
    struct sim_interval i = { .least = INFINITY, .most = -INFINITY };
    double sum = 0;

    for (uint32_t k = 0; k < n; k++) {
        double x = values[k];
        i.infinite += isinf(x) && x > 0 ? 1 : 0;
        i.overloaded += isinf(x) && x < 0 ? 1 : 0;
        if (!isfinite(x))
            continue;
        i.n++;
        sum += x;
        i.least = x < i.least ? x : i.least;
        i.most = x > i.most ? x : i.most;
    }
    if (i.n == 0) {
        i.mean = i.low = i.high = i.least = i.most = NAN;
        return i;
    }
    i.mean = sum / i.n;
    spread(f, &i, values, n);
    if ((f == SIM_FIG_STUCK || f == SIM_FIG_OVERLOADED) && n > 1)
        wilson(i.mean, i.n, normal, &i.low, &i.high);
    return i;
}

bool sim_interval_is_lopsided(const struct sim_interval *i)
{
    double up = i->high - i->mean, down = i->mean - i->low;

    return fabs(up - down) > 0.2 * fmax(up, down);
}

double sim_interval_value(const struct sim_interval *i)
{
    return i->infinite ? INFINITY : i->overloaded ? NAN : i->mean;
}

/* ===== summaries ===== */

void sim_summary_free(struct sim_summary *s)
{
    if (!s)
        return;
    for (uint32_t v = 0; v < s->n_variants; v++) {
        for (uint32_t k = 1; k < s->variants[v].n_runs; k++)
            sim_result_free(s->variants[v].runs[k]);
        sim_result_free(s->variants[v].first);
        free(s->variants[v].runs);
        free(s->variants[v].fleets);
        free(s->variants[v].services);
        free(s->variants[v].mean[0]);
        free(s->variants[v].mean[1]);
    }
    free(s->variants);
    free(s);
}
