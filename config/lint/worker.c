/* worker.c: settings of the worker that are valid but risky. */
#include <stdio.h>

#include "bide/policy.h"
#include "config/doc/diag.h"
#include "config/lint/policy_lints.h"
#include "config/lint/proxy_lints.h"
#include "config/lint/worker_lints.h"
#include "config/policy/policy_file.h"
#include "config/worker/conf.h"

enum { SHOWN = 32, FOUND = 160 };

/* An outage that somebody is called for. */
#define HASTY_NS (15 * BIDE_MINUTE)

/* Warns at a key of the section. */
#define warn_at(config, notes, key, code, help, ...)                           \
    bide__diag(notes, (config)->tree,                                          \
               bide__map_get((config)->worker_node, key, NULL), BIDE_WARNING,  \
               code, help, __VA_ARGS__)

static void hasty(const bide_policy_conf *policy, bide__worker_found *fn, void *arg)
{
    int64_t waits = bide__longest_waits(policy, policy->attempts);
    char text[SHOWN], found[FOUND];

    if (waits >= HASTY_NS)
        return;
    snprintf(found, sizeof found,
             "a message is dead after %u attempt%s, in less than %s",
             policy->attempts, policy->attempts == 1 ? "" : "s",
             waits > 0 ? bide_format_duration(waits, text, sizeof text)
                       : "a second");
    fn(arg, "L028", found,
       "begin the policy with `preset: queue`, whose 15 attempts take about a "
       "day");
}

static void deadline(const bide_policy_conf *policy, bide__worker_found *fn,
                     void *arg)
{
    char text[SHOWN], found[FOUND];

    if (policy->deadline_ns == BIDE_FOREVER)
        return;
    snprintf(found, sizeof found,
             "a message is dead as soon as it would wait for longer than %s, "
             "the deadline of its policy",
             bide_format_duration(policy->deadline_ns, text, sizeof text));
    fn(arg, "L029", found, "write `deadline: none` in that policy");
}

void bide__worker_policy(const bide_policy_conf *policy, bide__worker_found *fn,
                         void *arg)
{
    hasty(policy, fn, arg);
    deadline(policy, fn, arg);
}

struct place {
    const bide_config *config;
    bide_diagnostics *notes;
};

static void warn_policy(void *arg, const char *code, const char *found,
                        const char *change)
{
    const struct place *p = arg;

    warn_at(p->config, p->notes, "policy", code, change, "%s", found);
}

/* What only commands have. */
static void idle(const bide_config *config, bide_diagnostics *notes)
{
    static const char *const keys[] = { "retry_on", "stop_on", "kill_after" };

    if (!config->worker->to)
        return;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (bide__map_get(config->worker_node, keys[i], NULL))
            warn_at(config, notes, keys[i], "L015",
                    "take it out; `rules` of a policy are about answers",
                    "`%s` is for commands, and `to` is a URL", keys[i]);
}

void bide__lint_worker(const bide_config *config, bide_diagnostics *notes)
{
    const struct bide__worker_settings *w = config->worker;
    const struct bide__policy_entry *entry =
        w->policy ? bide__config_entry(config, w->policy) : NULL;

    struct place at = { config, notes };

    if (entry)
        bide__worker_policy(&entry->conf, warn_policy, &at);
    idle(config, notes);
    if (w->admin && !bide__is_near(w->admin))
        warn_at(config, notes, "admin", "L020",
                "write `127.0.0.1`, or a Unix socket",
                "others than this machine reach the admin endpoint");
}
