/* bide worker -c FILE: what the flags leave open, as the file says it. */
#include "cmd/worker/settings.h"

#include <string.h>

#include "bide/policy.h"
#include "cmd/common/output.h"
#include "config/field/option_value.h"
#include "config/policy/policy_file.h"
#include "config/proxy/conf.h"
#include "config/worker/conf.h"
#include "queue/plan.h"

/* The policy that the section names, unless a flag names another. */
static void take_policy(struct worker_args *a,
                        const struct bide__worker_settings *s)
{
    static const char timeout[] = "attempt_timeout";
    const struct bide__policy_entry *entry;
    size_t i;

    if (!s->policy || a->policy.file || a->policy.preset)
        return;
    entry = bide__config_entry(a->place.config, s->policy);
    i = bide__option_index(bide__option_find(timeout, strlen(timeout)));
    a->policy.conf = entry->conf;
    a->timeout_stated = entry->set_by[i] != NULL;
}

static void take_handler(struct worker_args *a,
                         const struct bide__worker_settings *s)
{
    if (a->command || a->to)
        return;
    a->command = (char **)(uintptr_t)s->command;
    a->to = s->to;
}

static void take_log(struct worker_args *a,
                     const struct bide__worker_settings *s)
{
    if (!a->quiet && !a->verbose) {
        a->quiet = s->log == BIDE__WORKER_LOG_OFF;
        a->verbose = s->log == BIDE__WORKER_LOG_ATTEMPTS;
    }
    a->json = a->json || s->log_json;
}

static void take_telemetry(struct worker_args *a,
                           const struct bide__worker_settings *s)
{
    a->telemetry = s->telemetry;
    if (a->otlp && (!s->telemetry.otlp || strcmp(a->otlp, s->telemetry.otlp) != 0))
        a->telemetry.ca = NULL; /* those were for another collector */
    if (a->otlp)
        a->telemetry.otlp = a->otlp;
    if (a->sample >= 0)
        a->telemetry.sample = a->sample;
}

static void take_settings(struct worker_args *a,
                          const struct bide__worker_settings *s)
{
    take_policy(a, s);
    take_handler(a, s);
    take_log(a, s);
    take_telemetry(a, s);
    if (!a->at_once)
        a->at_once = s->at_once;
    if (!a->retry_on.given)
        a->retry_on = s->retry_on;
    if (!a->stop_on.given)
        a->stop_on = s->stop_on;
    if (a->drain_ns < 0)
        a->drain_ns = s->drain_ns;
    if (a->kill_after_ns < 0)
        a->kill_after_ns = s->kill_after_ns;
    if (!a->admin && s->admin)
        a->admin = s->admin->text;
    a->until_empty = a->until_empty || s->until_empty;
}

int worker_settle(struct worker_args *a)
{
    static const struct bide__worker_settings none = BIDE__WORKER_SETTINGS_INIT;
    int rc = place_settle(&a->place, "worker");

    if (rc >= 0)
        return rc;
    const struct bide__worker_settings *s = place_settings(&a->place);
    take_settings(a, s ? s : &none);
    rc = policy_settle(&a->policy);
    if (rc >= 0)
        return rc;
    const char *wrong = queue_policy_wrong(&a->policy.conf);
    return wrong ? complain("worker", "%s", wrong) : -1;
}

int64_t worker_lease_ns(const struct worker_args *a)
{
    const struct broker_conf conf = BROKER_CONF_INIT;

    return a->place.lease_ns ? a->place.lease_ns : conf.lease_ns;
}
