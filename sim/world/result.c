/* Results, and the names of their figures. */
#include "sim/world/result.h"

#include <stdlib.h>

static const struct {
    const char *name, *head, *about;
} figures[SIM_FIGURES] = {
    [SIM_FIG_GOODPUT] = { "goodput", "goodput",
                          "calls that succeeded, a second" },
    [SIM_FIG_SUCCESS] = { "success", "success",
                          "share of the calls that succeeded; calls that "
                          "should have ended and have not count" },
    [SIM_FIG_FAILURES] = { "failures", "failed",
                           "share of the calls that failed for good" },
    [SIM_FIG_UNFINISHED] = { "unfinished", "unfinished",
                             "share of the calls that should have ended by the "
                             "end of the run, and had not" },
    [SIM_FIG_ATTEMPTS] = { "attempts", "attempts",
                           "attempts that the clients made, a second" },
    [SIM_FIG_AMPLIFICATION] = { "amplification", "amplif.",
                                "attempts of the clients for each of their "
                                "calls" },
    [SIM_FIG_DEEPEST] = { "deepest", "deepest",
                          "attempts at the most called service for each call "
                          "of the clients" },
    [SIM_FIG_MEAN] = { "mean", "mean",
                       "mean duration of the calls that succeeded, waits "
                       "included" },
    [SIM_FIG_P50] = { "p50", "p50",
                      "half of the calls that succeeded took no longer, waits "
                      "included" },
    [SIM_FIG_P99] = { "p99", "p99",
                      "99 % of the calls that succeeded took no longer" },
    [SIM_FIG_P999] = { "p999", "p99.9",
                       "99.9 % of the calls that succeeded took no longer" },
    [SIM_FIG_TIMED] = { "timed", "timed",
                        "calls that succeeded: what the mean and the "
                        "percentiles are of" },
    [SIM_FIG_QUEUE_WAIT] = { "queue_wait", "queue wait",
                             "mean wait for a worker, where it is longest" },
    [SIM_FIG_UTILISATION] = { "utilisation", "busy",
                              "share of the workers' time, where it is "
                              "greatest" },
    [SIM_FIG_DUPLICATES] = { "duplicates", "twice",
                             "times that a service did again what it had done "
                             "for the same call" },
    [SIM_FIG_PEAK] = { "peak", "peak",
                       "arrivals in the busiest second, by those of the mean "
                       "second, where the clients call" },
    [SIM_FIG_WASTED] = { "wasted", "wasted",
                         "share of the workers' time that was spent on what "
                         "nobody waited for any more" },
    [SIM_FIG_RECOVER] = { "recover", "recovers",
                          "from the end of the last fault until success and "
                          "goodput are back for good, compared with the same "
                          "run without the fault" },
    [SIM_FIG_STUCK] = { "stuck", "stuck",
                        "share of the runs that had not recovered by their "
                        "end" },
    [SIM_FIG_OVERLOADED] = { "overloaded", "overloaded",
                             "share of the runs whose load is too much even "
                             "without the fault" },
    [SIM_FIG_ALL_BACK] = { "all_back", "all back by",
                           "when the last call ended of those that began "
                           "before the end of the last fault, or of clients "
                           "that stop calling" },
    [SIM_FIG_HEDGES] = { "hedges", "hedges", "hedges for each call" },
    [SIM_FIG_DEAD] = { "dead", "dead", "messages that became dead letters" },
    [SIM_FIG_DEAD_AFTER] = { "dead_after", "dead after",
                             "mean time from when those were queued until they "
                             "died" },
    [SIM_FIG_NUMBER] = { "attempt_number", "attempt no.",
                         "the highest number that an attempt at a message "
                         "had" },
    [SIM_FIG_DEPTH] = { "depth", "depth", "the most messages in a queue" },
    [SIM_FIG_OLDEST] = { "oldest", "oldest",
                         "the longest that a message which was due waited for "
                         "a worker" },
    [SIM_FIG_FIRST_WAIT] = { "first_wait", "first wait",
                             "mean wait of a message for its first attempt" },
    [SIM_FIG_RETRY_WAIT] = { "retry_wait", "retry wait",
                             "the longest wait of a message for its next "
                             "attempt, by its backoff" },
    [SIM_FIG_PAUSES] = { "pauses", "pauses",
                         "times that a worker paused, because the handler was "
                         "not there" },
    [SIM_FIG_PAUSED] = { "paused", "paused",
                         "share of the workers' time in which they paused" },
    [SIM_FIG_PROBES] = { "probes", "probes",
                         "attempts of a worker while it paused, a second" },
};

const char *sim_figure_name(enum sim_figure f)
{
    return (unsigned)f < SIM_FIGURES ? figures[f].name : NULL;
}

const char *sim_figure_head(enum sim_figure f)
{
    return (unsigned)f < SIM_FIGURES ? figures[f].head : NULL;
}

const char *sim_figure_about(enum sim_figure f)
{
    return (unsigned)f < SIM_FIGURES ? figures[f].about : NULL;
}

/* The names of edges belong to the result; the others are the model's. */
static void free_caller(struct sim_caller_result *c)
{
    union {
        const char *made;
        void *memory;
    } name = { c->name };
    if (!c->is_fleet)
        free(name.memory);
    for (int i = 0; i < SIM_CALLER_CHANNELS; i++)
        free(c->value[i]);
    for (int i = 0; i < BIDE_N_REASONS; i++)
        free(c->by_reason[i]);
}

void sim_result_free(struct sim_result *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->n_callers; i++)
        free_caller(&r->callers[i]);
    for (uint32_t i = 0; i < r->n_services; i++)
        for (int v = 0; v < SIM_SERVICE_CHANNELS; v++)
            free(r->services[i].value[v]);
    free(r->callers);
    free(r->services);
    free(r->marks);
    free(r->beats.begun);
    free(r->beats.ended);
    free(r->beats.good);
    free(r->beats.arrived);
    free(r);
}
