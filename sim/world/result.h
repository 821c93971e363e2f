/* What one run of a model showed: totals, and what happened when.
 *
 *     struct sim_result *r = sim_run(model, variant, seed, &watch);   // stage.h
 *     uint64_t goodput = r->callers[0].total.successes;    // the first fleet's
 *     double load = r->callers[0].value[SIM_ATTEMPTS][step];
 *     sim_result_free(r);
 *
 * Counted from outside the engine, so that what the engine counts can be held
 * against it. Rates are per step, not per second: divide by the step's length;
 * the last step may be shorter than the others. Totals, histograms and series are
 * of the whole run, figures of what came after the warm-up. Nothing but the series
 * depends on the number of steps.
 *
 * Time to recover (SIM_FIG_RECOVER): calls are counted in beats, of a second or,
 * in a run of less than two minutes, of 1/120 of it. Before the first fault, from
 * the warm-up on, a share p of the calls that ended succeeded, at g a second (if
 * that is less than five beats: p is 1, and g does not count). After the end of
 * the last fault a window of 5 s (never less than 5 beats) that begins with any
 * beat is well if
 *
 *   failures  <=  q n + 4 sqrt(q n)           q = 1 - p + 1 %, n calls ended
 *   successes >=  0.95 e - 4 sqrt(0.95 e)     e = g * the window's length
 *
 * that is, no more than a point below what it was, or a twentieth below the
 * goodput, but for the noise that so few calls have by nature. It has recovered
 * at the begin of the first window from which on all up to the end are well.
 * Never: the very last one is not. Threads: owned. */
#ifndef BIDE_SIM_WORLD_RESULT_H
#define BIDE_SIM_WORLD_RESULT_H

#include "bide/call.h"
#include "sim/model/model.h"
#include "sim/world/histogram.h"

/* Of callers over time (a fleet, or a service that calls on). */
enum sim_caller_channel {
    SIM_CALLS,        /* begun in the step */
    SIM_ATTEMPTS,     /* begun: the offered load */
    SIM_RETRIES,      /* of those, after a failed one */
    SIM_HEDGES,       /* of those, beside a running one */
    SIM_SUCCESSES,    /* calls that ended so: the goodput */
    SIM_FAILURES,     /* calls that ended otherwise */
    SIM_TIMEOUTS,     /* attempts given up */
    SIM_IN_PROGRESS,  /* calls, at the end of the step */
    SIM_WAITING,      /* calls in backoff, at the end of the step */
    SIM_BREAKER_OPEN, /* share of the processes whose breaker is open ... */
    SIM_BREAKER_HALF, /* ... half-open, at the end of the step */
    SIM_BUDGET,       /* retries that the budgets would still grant, in all; -1:
                       * no budget */
    SIM_P50_NS,       /* latency of the calls that succeeded in the step; */
    SIM_P99_NS,       /* 0: none did */
    SIM_CALLER_CHANNELS
};

/* Of a service over time. */
enum sim_service_channel {
    SIM_ARRIVED,   /* requests in the step */
    SIM_SERVED,    /* finished, and somebody waited for it */
    SIM_WASTED,    /* finished, and nobody did */
    SIM_REFUSED,   /* the queue was full */
    SIM_THROTTLED, /* 429 */
    SIM_DROPPED,   /* late, or cancelled, not worked on */
    SIM_ERRORS,    /* answered with an error */
    SIM_DUPLICATES, /* committed though the same call had been before */
    SIM_QUEUE,     /* length at the end of the step */
    SIM_BUSY,      /* workers, at the end of the step */
    SIM_CAPACITY_RATE, /* requests that it could serve in the step, faults taken
                        * into account; -1: without limit */
    SIM_SERVICE_CHANNELS
};

enum { SIM_RETRY_NUMBERS = 12 };

struct sim_caller_totals {
    uint64_t calls, attempts, retries, hedges, hedge_wins;
    uint64_t successes, failures, timeouts;
    uint64_t by_reason[BIDE_N_REASONS]; /* calls by the reason of their end */
    uint64_t unfinished;                /* at the end of the run */
    uint64_t by_number[SIM_RETRY_NUMBERS]; /* waits: before the first retry
                                         * of a call, before the second ...; the
                                         * last: before all later ones */
};

/* Callers with one policy: a fleet, or one edge of the graph. */
struct sim_caller_result {
    const char *name;       /* "web", or "api > db"; the model's */
    const char *policy;
    bool is_fleet;
    struct sim_caller_totals total;
    struct sim_histogram latency; /* of calls that succeeded, waits included */
    struct sim_histogram wait;    /* before retries, as decided */
    double *value[SIM_CALLER_CHANNELS]; /* [channel][step] */
    uint32_t *by_reason[BIDE_N_REASONS]; /* calls ended, [reason][step]; NULL:
                                          * none ever */
};

/* Of what arrived, each was served, wasted, refused, throttled, dropped or broken,
 * or is left. */
struct sim_service_result {
    const char *name;
    uint64_t arrived, served, wasted, refused, throttled, dropped, errors;
    uint64_t duplicates, commits;
    double busy_ns, wasted_ns; /* of workers */
    double *value[SIM_SERVICE_CHANNELS]; /* [channel][step] */
    uint64_t waited;  /* in the queue */
    uint64_t broken;  /* refused to connect, or broken off, by a crash */
    uint64_t lost;    /* sent, but never arrived: a partition */
    uint64_t unheard; /* answers that did not get back */
    uint64_t left;    /* in it at the end of the run */
};

/* What became of one attempt of a sampled client, for timelines. */
enum sim_mark_kind {
    SIM_MARK_OK,
    SIM_MARK_ERROR,
    SIM_MARK_TIMEOUT,
    SIM_MARK_REFUSED, /* the call ended without this attempt: `reason` */
    SIM_MARK_OPEN,    /* still running at the end */
    SIM_MARK_LOST     /* another attempt of the call was quicker (hedging) */
};

/* More are not kept. */
#define SIM_MARKS_MOST 100000

struct sim_mark {
    uint32_t fleet, client; /* the client's number in its fleet */
    uint32_t call, attempt; /* running number of the client's calls, from 0 */
    int64_t from_ns, to_ns;
    enum sim_mark_kind kind;
    bide_reason reason;     /* of the call's end, for the last attempt of it */
    bool last;
};

/* The figures of the table; for the whole model, over all fleets. NaN where
 * there is nothing to say (no calls; no fault to recover from). */
enum sim_figure {
    SIM_FIG_GOODPUT,       /* successes a second after the warm-up */
    SIM_FIG_SUCCESS,       /* share of ended calls that succeeded */
    SIM_FIG_FAILURES,      /* share that failed for good */
    SIM_FIG_ATTEMPTS,      /* a second */
    SIM_FIG_AMPLIFICATION, /* attempts at the services that fleets call, by the
                            * calls of the fleets */
    SIM_FIG_DEEPEST,       /* attempts at the most called service by the same */
    SIM_FIG_P50,           /* of calls that succeeded, in seconds */
    SIM_FIG_P99,
    SIM_FIG_P999,
    SIM_FIG_DUPLICATES,    /* commits beyond the first of a call */
    SIM_FIG_PEAK,          /* arrivals of the busiest beat (see the top) by those
                            * of the mean beat, at the services that fleets
                            * call */
    SIM_FIG_WASTED,        /* share of the workers' time spent for nobody */
    SIM_FIG_RECOVER,       /* seconds from the end of the last fault until
                            * goodput is back for good; infinite: never */
    SIM_FIG_STUCK,         /* 1 if it never was, else 0: its mean is the
                            * probability of never recovering */
    SIM_FIG_HEDGES,        /* hedges by calls */
    SIM_FIGURES
};

struct sim_result {
    const struct sim_model *model; /* must outlive what looks at it; freeing
                                    * the result does not */
    uint32_t variant;              /* or SIM_NONE */
    uint64_t seed;
    bool cut_short;                /* stopped before its time, at ... */
    int64_t ended_ns;
    uint64_t events;
    int64_t step_ns;
    uint32_t n_steps;
    struct sim_caller_result *callers; /* the fleets first, in their order */
    uint32_t n_callers;
    struct sim_service_result *services;
    struct sim_mark *marks;            /* by time of their end */
    uint32_t n_marks;
    double figure[SIM_FIGURES];
    uint32_t n_services;
};

void sim_result_free(struct sim_result *r);

/* "amplification", "recover" ...: as --assert, --json and CSV name it; its head
 * in a table; and what it is, in a sentence. */
const char *sim_figure_name(enum sim_figure f);
const char *sim_figure_head(enum sim_figure f);
const char *sim_figure_about(enum sim_figure f);

#endif
