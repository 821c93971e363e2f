/* The timetable, and four policies, each of which changes one thing.
 *
 * The outage is an everyday one. The origin hangs; after a second it crashes,
 * so that all waiting clients are cut off at the same time; for two seconds the
 * load balancer before it answers 503; then it is back, but has to load its
 * data for three more seconds, while requests pile up. After that it is fully
 * healthy. What happens next depends on the clients.
 *
 * A queue that holds two seconds of work, while clients give up after one,
 * keeps the overload going: once it is full, all work goes into responses that
 * no one waits for, until requests arrive more slowly than they are
 * processed. */
#include "cmd/demo/plan.h"

#define S  BIDE_SECOND
#define MS BIDE_MILLISECOND

enum { CLIENTS = 480, QUEUE = 400, ATTEMPTS = 6 };

static int64_t scaled(const struct demo_plan *plan, int64_t ns)
{
    return (int64_t)((double)ns * plan->scale);
}

void demo_plan_init(struct demo_plan *plan, double seconds)
{
    double scale = seconds < DEMO_SECONDS ? seconds / DEMO_SECONDS : 1;

    plan->scale = scale;
    plan->length_ns = (int64_t)(seconds * 1e9);
    plan->hangs_ns = scaled(plan, 8 * S);
    plan->errors_ns = scaled(plan, 9 * S);
    plan->loads_ns = scaled(plan, 11 * S);
    plan->healthy_ns = scaled(plan, 14 * S);
    plan->think_ns = scaled(plan, 4 * S);
    plan->clients = (unsigned)(CLIENTS * scale);
    plan->queue = (unsigned)(QUEUE * scale);
}

enum demo_phase demo_phase_at(const struct demo_plan *plan, int64_t at_ns)
{
    int64_t t = at_ns % plan->length_ns;

    if (t < plan->hangs_ns || t >= plan->healthy_ns)
        return DEMO_HEALTHY;
    if (t < plan->errors_ns)
        return DEMO_HANGS;
    return t < plan->loads_ns ? DEMO_ERRORS : DEMO_LOADS;
}

int64_t demo_next_phase(const struct demo_plan *plan, int64_t at_ns)
{
    int64_t t = at_ns % plan->length_ns;
    const int64_t turns[] = { plan->hangs_ns, plan->errors_ns, plan->loads_ns,
                              plan->healthy_ns,
                              plan->length_ns + plan->hangs_ns };

    for (unsigned i = 0;; i++)
        if (t < turns[i])
            return at_ns - t + turns[i];
}

const char *demo_phase_name(enum demo_phase phase)
{
    static const char *const names[] = { "healthy", "hangs", "errors",
                                         "loads" };
    return names[phase];
}

const char *demo_phase_text(enum demo_phase phase)
{
    static const char *const texts[] = {
        "the origin is healthy",
        "the origin hangs: no answers",
        "the origin has crashed: 503 for all",
        "the origin is back and loads its data: no answers yet",
    };
    return texts[phase];
}

/* ===== policies ===== */

const char *demo_fleet_name(unsigned i)
{
    static const char *const names[] = { "naive", "exponential", "full-jitter",
                                         "budget+breaker" };
    return names[i];
}

const char *demo_fleet_text(unsigned i)
{
    static const char *const texts[] = {
        "retries at once",
        "waits twice as long each time",
        "the same, at random times",
        "the same, with a retry budget and a circuit breaker",
    };
    return texts[i];
}

/* Breaker and budget have their defaults, except for times: what is meant for
 * minutes must show in seconds. */
static void restrain(bide_policy_conf *conf, const struct demo_plan *plan)
{
    conf->budget.window_ns = scaled(plan, 10 * S);
    conf->breaker.kind = BIDE_BREAKER_TIME;
    conf->breaker.window_ns = scaled(plan, 2 * S);
    conf->breaker.open_ns = scaled(plan, 1 * S);
    conf->breaker.open_max_ns = conf->breaker.open_ns;
    conf->breaker.open_factor = 1;
}

void demo_policy(bide_policy_conf *conf, unsigned fleet,
                 const struct demo_plan *plan)
{
    *conf = (bide_policy_conf)BIDE_POLICY_CONF_INIT;
    conf->attempts = ATTEMPTS;
    conf->attempt_timeout_ns = scaled(plan, 1 * S);
    conf->backoff.base_ns = fleet == 0 ? 0 : scaled(plan, 500 * MS);
    conf->backoff.cap_ns = fleet == 0 ? 0 : scaled(plan, 8 * S);
    conf->backoff.jitter = fleet < 2 ? BIDE_JITTER_NONE : BIDE_JITTER_FULL;
    if (fleet == 3) {
        restrain(conf, plan);
        return;
    }
    conf->budget.kind = BIDE_BUDGET_OFF;
    conf->breaker.kind = BIDE_BREAKER_OFF;
}
