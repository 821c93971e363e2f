/* worker.c: settings of the worker that are valid but risky. */
#include "bide/policy.h"
#include "config/doc/diag.h"
#include "config/lint/policy_lints.h"
#include "config/lint/proxy_lints.h"
#include "config/lint/worker_lints.h"
#include "config/policy/policy_file.h"
#include "config/worker/conf.h"

enum { SHOWN = 32 };

/* An outage that somebody is called for. */
#define HASTY_NS (15 * BIDE_MINUTE)

/* Warns at a key of the section. */
#define warn_at(config, notes, key, code, help, ...)                           \
    bide__diag(notes, (config)->tree,                                          \
               bide__map_get((config)->worker_node, key, NULL), BIDE_WARNING,  \
               code, help, __VA_ARGS__)

static void hasty(const bide_config *config, bide_diagnostics *notes,
                  const struct bide__policy_entry *entry)
{
    int64_t waits = bide__longest_waits(&entry->conf, entry->conf.attempts);
    char text[SHOWN];

    if (waits < HASTY_NS)
        warn_at(config, notes, "policy", "L028",
                "begin the policy with `preset: queue`, whose 15 attempts take "
                "about a day",
                "a message is dead after %u attempt%s, in less than %s",
                entry->conf.attempts, entry->conf.attempts == 1 ? "" : "s",
                waits > 0 ? bide_format_duration(waits, text, sizeof text)
                          : "a second");
}

static void deadline(const bide_config *config, bide_diagnostics *notes,
                     const struct bide__policy_entry *entry)
{
    char text[SHOWN];

    if (entry->conf.deadline_ns != BIDE_FOREVER)
        warn_at(config, notes, "policy", "L029",
                "write `deadline: none` in that policy",
                "a message is dead as soon as it would wait for longer than "
                "%s, the deadline of `%s`",
                bide_format_duration(entry->conf.deadline_ns, text,
                                     sizeof text),
                entry->name);
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

    if (entry) {
        hasty(config, notes, entry);
        deadline(config, notes, entry);
    }
    idle(config, notes);
    if (w->admin && !bide__is_near(w->admin))
        warn_at(config, notes, "admin", "L020",
                "write `127.0.0.1`, or a Unix socket",
                "others than this machine reach the admin endpoint");
}
