/* Oracles: models whose outcome is known, computed or published, and the
 * simulator's results for them. `bide sim selftest` shows them; the rows are
 * those of the table in man/bide-sim.1.
 *
 *     struct sim_report report = { .seed = 1 };
 *     for (const struct sim_oracle *o = sim_oracles; o->run; o++)
 *         o->run(&report);
 *
 * A row runs the engine wherever the engine decides. Threads: owned. */
#ifndef BIDE_SIM_ORACLE_ORACLE_H
#define BIDE_SIM_ORACLE_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

enum sim_bound {
    SIM_NEAR,    /* measured within expected +- tolerance; 0: exactly */
    SIM_AT_MOST, /* measured <= expected */
    SIM_SHAPE    /* a Kolmogorov-Smirnov distance, under expected */
};

struct sim_check {
    int row;
    char what[64];
    enum sim_bound bound;
    double expected, measured, tolerance;
    bool ok;
};

struct sim_report {
    uint64_t seed;
    int row;                   /* the current one */
    struct sim_check *checks;
    uint32_t n_checks, room;
    uint64_t events;           /* simulated so far */
    void (*progress)(void *self, const struct sim_report *r); /* or NULL */
    void *self;
};

struct sim_oracle {
    int row;
    const char *title;
    void (*run)(struct sim_report *report);
};

extern const struct sim_oracle sim_oracles[]; /* ends with a NULL run */

/* Runs an oracle into a report. */
void sim_oracle_run(const struct sim_oracle *oracle, struct sim_report *report);
void sim_report_done(struct sim_report *report);

/* How many checks have failed. */
uint32_t sim_report_failures(const struct sim_report *report);

/* For the rows. `what` is a format. */
void sim_expect(struct sim_report *r, enum sim_bound bound, double expected,
                double measured, double tolerance, const char *what, ...)
    __attribute__((format(printf, 6, 7)));

#endif
