/* The result of one run of a model: totals, and what happened when.
 *
 *     struct sim_result *r = sim_run(model, variant, seed, &run_conf);   // stage.h
 *     uint64_t goodput = r->callers[0].total.successes;    // the first fleet's
 *     double load = r->callers[0].value[SIM_ATTEMPTS][step];
 *     sim_result_free(r);
 *
 * Counted outside the engine, so that the engine's own counts can be checked
 * against it. Rates are per step, not per second: divide by the step's length;
 * the last step may be shorter than the others. Totals, histograms and series
 * cover the whole run, figures what came after the warm-up. Only the series
 * depend on the number of steps.
 *
 * Which calls count: those that ended after the warm-up, and those that could
 * have ended but have not. A call that is in progress at the end of the run is
 * "unfinished" if it began longer ago than ten times the mean of what it takes
 * with nobody else around (at most a tenth of the counted time); one that began
 * later is not counted at all. So
 *
 *   success + failures + unfinished = 1
 *
 * and a run that serves a fifth of its calls, while the rest still wait, has a
 * success of 20 %, not of 100 %. Durations are those of successful calls:
 * SIM_FIG_TIMED says how many they are.
 *
 * One run alone cannot tell whether it has recovered from a fault: SIM_FIG_RECOVER,
 * SIM_FIG_STUCK and SIM_FIG_OVERLOADED are NaN until it has been compared with
 * its twin (sim/study/recovery.h). Threads: owned. */
#ifndef BIDE_SIM_WORLD_RESULT_H
#define BIDE_SIM_WORLD_RESULT_H

#include "bide/call.h"
#include "sim/model/model.h"
#include "sim/world/histogram.h"

/* Series of callers (a fleet, or a service that calls another). */
enum sim_caller_channel {
    SIM_CALLS,        /* begun in the step */
    SIM_ATTEMPTS,     /* begun: the offered load */
    SIM_RETRIES,      /* of those, after a failed one */
    SIM_HEDGES,       /* of those, beside a running one */
    SIM_SUCCESSES,    /* calls that succeeded: the goodput */
    SIM_FAILURES,     /* calls that ended otherwise */
    SIM_TIMEOUTS,     /* attempts that timed out */
    SIM_IN_PROGRESS,  /* calls, at the end of the step */
    SIM_WAITING,      /* calls in backoff, at the end of the step */
    SIM_BREAKER_OPEN, /* share of the processes whose breaker is open ... */
    SIM_BREAKER_HALF, /* ... half-open, at the end of the step */
    SIM_BUDGET,       /* retries that the budgets would still grant, in all; -1:
                       * no budget */
    SIM_P50_NS,       /* latency of the calls that succeeded in the step; */
    SIM_P99_NS,       /* 0: none did */
    SIM_DUE,          /* of a queue: messages that are due, at the end of the
                       * step; */
    SIM_OLDEST_NS,    /* how long the oldest of them has waited; */
    SIM_PAUSED,       /* share of the workers that pause */
    SIM_CALLER_CHANNELS
};

/* Series of a service. */
enum sim_service_channel {
    SIM_ARRIVED,   /* requests in the step */
    SIM_SERVED,    /* finished, while its caller waited */
    SIM_WASTED,    /* finished, after its caller had given up */
    SIM_REFUSED,   /* the queue was full */
    SIM_THROTTLED, /* 429 */
    SIM_DROPPED,   /* late, or cancelled: not worked on */
    SIM_ERRORS,    /* got an error response */
    SIM_DUPLICATES, /* committed although the same call already had been */
    SIM_QUEUE,     /* length at the end of the step */
    SIM_BUSY,      /* workers, at the end of the step */
    SIM_CAPACITY_RATE, /* requests that it could serve in the step, with faults;
                        * -1: without limit */
    SIM_SERVICE_CHANNELS
};

enum { SIM_RETRY_NUMBERS = 12 };

/* The fleets together, in beats of a second or, in a run of less than two
 * minutes, of 1/120 of it. Each is a total up to the end of the beat. */
struct sim_beats {
    int64_t length_ns;
    uint32_t n;
    uint64_t *begun;   /* calls */
    uint64_t *ended;
    uint64_t *good;    /* of those that ended, successes */
    uint64_t *arrived; /* requests at the services that fleets call */
};

struct sim_caller_totals {
    uint64_t calls;
    uint64_t attempts;  /* begun */
    uint64_t unreached; /* of those, that found nobody and cost nothing, as
                           bide_stats has it: no work for the service, and no
                           part of the amplification */
    uint64_t retries, hedges, hedge_wins;
    uint64_t successes, failures, timeouts;
    uint64_t by_reason[BIDE_N_REASONS]; /* calls by the reason of their end */
    uint64_t unfinished;                /* in progress at the end of the run */
    uint64_t by_number[SIM_RETRY_NUMBERS]; /* waits: before the first retry
                                         * of a call, before the second ...; the
                                         * last: before all later ones */
};

/* Attempts that reached the service. */
static inline uint64_t sim_reached(const struct sim_caller_totals *t)
{
    return t->attempts - t->unreached;
}

/* The figures of the table; for the whole model, over all fleets, and for each
 * fleet by itself. NaN if there is no value (no calls; no fault to recover
 * from; nothing that a single fleet has). */
enum sim_figure {
    SIM_FIG_GOODPUT,       /* successes a second after the warm-up */
    SIM_FIG_SUCCESS,       /* share of the calls (see the top) that succeeded */
    SIM_FIG_FAILURES,      /* share that failed */
    SIM_FIG_UNFINISHED,    /* share that should have ended, and has not */
    SIM_FIG_ATTEMPTS,      /* a second, but for those that found nobody */
    SIM_FIG_AMPLIFICATION, /* attempts at the services that fleets call, per call
                            * of the fleets */
    SIM_FIG_DEEPEST,       /* attempts at the most called service, likewise */
    SIM_FIG_MEAN,          /* of calls that succeeded, in seconds */
    SIM_FIG_P50,
    SIM_FIG_P99,
    SIM_FIG_P999,
    SIM_FIG_TIMED,         /* how many those are */
    SIM_FIG_QUEUE_WAIT,    /* mean wait for a worker, in seconds, of the requests
                            * that got one, where it is longest */
    SIM_FIG_UTILISATION,   /* share of the workers' time, where it is greatest */
    SIM_FIG_DUPLICATES,    /* commits beyond the first of a call */
    SIM_FIG_PEAK,          /* arrivals in the busiest beat, relative to the mean
                            * beat, at the services that fleets call */
    SIM_FIG_WASTED,        /* share of the workers' time spent on requests whose
                            * callers had given up */
    SIM_FIG_RECOVER,       /* seconds from the end of the last fault until
                            * goodput is back to stay; infinite: never; -infinite:
                            * overloaded */
    SIM_FIG_STUCK,         /* 1 if it never was, else 0: its mean is the
                            * probability of never recovering */
    SIM_FIG_OVERLOADED,    /* 1 if the load is too much without any fault */
    SIM_FIG_ALL_BACK,      /* when the last call ended, in seconds, of those that
                            * began before the end of the last fault, and of
                            * fleets that stop calling; infinite: not yet */
    SIM_FIG_HEDGES,        /* hedges per call */
    /* of queues, the greatest or all of them; NaN: there is none */
    SIM_FIG_DEAD,          /* messages that became dead letters ... */
    SIM_FIG_DEAD_AFTER,    /* ... so long after they were put, on average */
    SIM_FIG_NUMBER,        /* the highest number that an attempt had */
    SIM_FIG_DEPTH,         /* the most messages in a queue */
    SIM_FIG_OLDEST,        /* the longest that one waited which was due */
    SIM_FIG_FIRST_WAIT,    /* mean wait for the first attempt */
    SIM_FIG_RETRY_WAIT,    /* the longest wait for a retry, by its backoff */
    SIM_FIG_PAUSES,        /* of workers */
    SIM_FIG_PAUSED,        /* share of the workers' time */
    SIM_FIG_PROBES,        /* attempts of a worker that pauses, a second */
    SIM_FIGURES
};

/* Whether only a queue has it. */
static inline bool sim_figure_of_queues(enum sim_figure f)
{
    return f >= SIM_FIG_DEAD;
}

/* Callers with one policy: a fleet, or one edge of the graph. */
struct sim_caller_result {
    const char *name;       /* "web", or "api > db"; the model's */
    const char *policy;
    bool is_fleet;
    struct sim_caller_totals total;
    struct sim_histogram latency; /* of successful calls, including waits */
    struct sim_histogram wait;    /* before retries, as decided */
    double *value[SIM_CALLER_CHANNELS]; /* [channel][step] */
    uint32_t *by_reason[BIDE_N_REASONS]; /* calls ended, [reason][step]; NULL:
                                          * none ever */
    double figure[SIM_FIGURES]; /* of a fleet */
};

/* Each request that arrived was served, wasted, refused, throttled, dropped or
 * broken, or is left. */
struct sim_service_result {
    const char *name;
    uint64_t arrived, served, wasted, refused, throttled, dropped, errors;
    uint64_t duplicates, commits;
    double busy_ns, wasted_ns; /* of workers, for requests that they finished */
    double held_ns; /* ... and for those that they have in hand */
    double *value[SIM_SERVICE_CHANNELS]; /* [channel][step] */
    double queued_ns; /* of those that a worker took */
    double utilisation; /* after the warm-up; NaN: its workers are unlimited */
    double queue_wait_s; /* mean, after the warm-up, of those that a worker took;
                          * NaN: none was, or its workers are unlimited */
    uint64_t begun;   /* taken by a worker */
    uint64_t waited;  /* in the queue */
    uint64_t broken;  /* connection refused or reset, by a crash */
    uint64_t lost;    /* sent, but never arrived: a partition */
    uint64_t unheard; /* responses that did not get back */
    uint64_t left;    /* in it at the end of the run */
};

/* The outcome of one attempt of a sampled client, for timelines. */
enum sim_mark_kind {
    SIM_MARK_OK,
    SIM_MARK_ERROR,
    SIM_MARK_TIMEOUT,
    SIM_MARK_REFUSED, /* the call ended without this attempt: `reason` */
    SIM_MARK_OPEN,    /* still running at the end */
    SIM_MARK_LOST     /* another attempt of the call was quicker (hedging) */
};

/* The maximum number kept. */
#define SIM_MARKS_MOST 100000

struct sim_mark {
    uint32_t fleet, client; /* the client's number in its fleet */
    uint32_t call, attempt; /* running number of the client's calls, from 0 */
    int64_t from_ns, to_ns;
    enum sim_mark_kind kind;
    bide_reason reason;     /* of the call's end, for the last attempt of it */
    bool last;
};

struct sim_result {
    const struct sim_model *model; /* must outlive the result's use; freeing the
                                    * result does not free it */
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
    struct sim_beats beats;
    double watched_s; /* after the last fault; 0: there was none */
    uint32_t n_services;
};

void sim_result_free(struct sim_result *r);

/* "amplification", "recover" ...: the name in --assert, --json and CSV; its
 * heading in a table; and a sentence that describes it. */
const char *sim_figure_name(enum sim_figure f);
const char *sim_figure_head(enum sim_figure f);
const char *sim_figure_about(enum sim_figure f);

#endif
