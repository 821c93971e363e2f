/* Profiles: how the rate of calls changes over time.
 *
 *     struct sim_rate_step steps[] = {
 *         { .at_ns = 60e9, .rate = 400, .over_ns = 30e9 },   // a ramp
 *         { .at_ns = 120e9, .rate = 900, .for_ns = 5e9 },    // a burst
 *     };
 *     struct sim_profile p = { steps, 2, .factor = 1 };
 *     struct sim_rates rates;
 *     sim_rates_init(&rates, &p, 100, duration_ns);
 *     at_ns = sim_rates_next(&rates, at_ns, area);           // the next call
 *     sim_rates_done(&rates);
 *
 * The rate is a chain of straight lines. A call comes when the area under them
 * since the last call reaches a number: drawn from an exponential distribution,
 * that is a Poisson process; always 1, calls are as even as the rate allows. So
 * the same luck gives the same calls, moved in time, under every profile. */
#ifndef BIDE_SIM_MODEL_PROFILE_H
#define BIDE_SIM_MODEL_PROFILE_H

#include <stddef.h>
#include <stdint.h>

/* The rate becomes `rate`, at once or along a straight line. Threads:
 * immutable. */
struct sim_rate_step {
    int64_t at_ns;   /* rising from step to step */
    double rate;     /* calls a second; 0: none */
    int64_t over_ns; /* how long the change takes; 0: a jump */
    int64_t for_ns;  /* from `at` on; then it is what it was before; 0: it
                      * stays */
};

/* Steps do not overlap: each is over (`over`, `for`) when the next begins, and
 * the last one when they begin again. Threads: immutable. */
struct sim_profile {
    const struct sim_rate_step *steps;
    size_t n_steps;
    double factor;     /* by which the rates of all steps are multiplied */
    int64_t repeat_ns; /* they begin again after so long; 0: never */
};

/* A piece of the chain of lines, up to the next one. */
struct sim_rate_line {
    int64_t at_ns;
    double rate;  /* at its beginning, in calls a nanosecond ... */
    double slope; /* ... and how that grows, each nanosecond */
};

/* The lines of one run. Threads: owned. */
struct sim_rates {
    struct sim_rate_line *lines;
    uint32_t n, room;
    uint32_t at; /* the line of the last call */
};

/* `rate`: calls a second before the first step. */
void sim_rates_init(struct sim_rates *r, const struct sim_profile *p,
                    double rate, int64_t duration_ns);
void sim_rates_done(struct sim_rates *r);

/* When the area since `from_ns` reaches `area`; INT64_MAX: never. To be asked in
 * rising order of time. */
int64_t sim_rates_next(struct sim_rates *r, int64_t from_ns, double area);

/* Calls a second at a time; and on average, from 0 to the end. */
double sim_rates_at(const struct sim_rates *r, int64_t at_ns);
double sim_profile_mean(const struct sim_profile *p, double rate,
                        int64_t duration_ns);

#endif
