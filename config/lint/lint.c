/* lint.c: the list of lints, and running them.
 *
 * A lint is for what the engine accepts but will hurt: few, and right. A value
 * that is written down and equals the default is never reported as idle; a
 * policy that spells out every default is clean. */
#include "config/lint/lint.h"

#include <string.h>

#include "config/field/option_value.h"
#include "config/lint/outcome_lints.h"
#include "config/lint/policy_lints.h"
#include "config/lint/proxy_lints.h"
#include "config/lint/rules.h"
#include "config/lint/worker_lints.h"

static const struct bide__lint_rule rules[] = {
    { "L001", "over-deadline",
      "Attempts that cannot fit the deadline are never made, just when the "
      "service is slow." },
    { "L002", "no-jitter",
      "Clients that failed together wait equally long and come back "
      "together." },
    { "L003", "cap-never-reached",
      "A cap over waits that do not grow limits nothing, and reads as if it "
      "did." },
    { "L004", "hopeless-retry",
      "The same request gets the same answer again, and costs the service the "
      "same." },
    { "L005", "unsafe-retry",
      "A request that may have been processed is done twice if it is sent "
      "again without a key." },
    { "L006", "budget-over-capacity",
      "In an outage the retries alone push the service over what it can "
      "serve, and keep it there." },
    { "L007", "timeout-under-p99",
      "A timeout under the latency of healthy answers turns them into "
      "failures and retries." },
    { "L008", "multiplied-attempts",
      "Layers that each retry multiply: an outage below is hit by the product "
      "of all attempts." },
    { "L009", "no-budget",
      "Without a budget every failing call makes all its attempts, and an "
      "outage multiplies the load." },
    { "L010", "deposit-per-call",
      "A budget that is fed by failing calls too goes on granting retries in "
      "an outage, and an overloaded service may never recover." },
    { "L011", "no-breaker",
      "Without a breaker, calls go on to a service that answers none of "
      "them." },
    { "L012", "hint-over-deadline",
      "A hint that is allowed and does not fit the deadline ends the call all "
      "the same." },
    { "L013", "no-wait",
      "Retries without a wait are over before anything can have recovered." },
    { "L014", "no-deadline",
      "Somebody waits for a call; without a deadline it may take until long "
      "after they have left." },
    { "L015", "idle-option",
      "An option that another one switches off reads as if it did something." },
    { "L016", "unreachable-route",
      "The first route that matches counts; one behind another that takes all "
      "its requests is never asked." },
    { "L017", "unused-upstream",
      "An upstream that no route names gets no requests; perhaps a route is "
      "missing." },
    { "L018", "unverified-tls",
      "Without a look at certificates, anybody on the way can be the "
      "server." },
    { "L019", "trusted-everybody",
      "Overrides by header are for clients that are known; from everybody, "
      "they let anybody switch retries and addresses." },
    { "L020", "open-admin",
      "The admin endpoint asks nobody who they are; on an address that others "
      "reach, it is theirs as well." },
    { "L021", "same-endpoint",
      "An endpoint that is listed twice looks like two: a retry elsewhere "
      "goes to the same server." },
    { "L022", "uncalled-service",
      "A service of a scenario that nobody calls changes nothing in it." },
    { "L023", "late-fault",
      "A fault that begins after the end of a scenario never happens." },
    { "L024", "overloaded-service",
      "A service of a scenario that cannot keep up on a good day shows nothing "
      "about bad ones." },
    { "L025", "timeout-over-p99",
      "An attempt that hangs holds its caller until it times out; far over "
      "the latency of healthy answers, several retries would fit in that "
      "time." },
    { "L026", "forgetful-store",
      "Keys that a process keeps in its memory are gone with it: after a "
      "restart a repeated request takes effect again." },
    { "L027", "unsure-origin",
      "Whether an origin knows idempotency keys decides whether a request may "
      "be sent to it twice; the file says both." },
    { "L028", "hasty-worker",
      "Nobody waits for a message; one whose attempts are over within minutes "
      "is dead before anybody has looked at what failed." },
    { "L029", "deadline-in-worker",
      "Each delivery of a message is a call of its own: a deadline does not "
      "bound its age, but makes a dead letter of it as soon as a wait is "
      "longer." },
};

const struct bide__lint_rule *bide__lint_rules(size_t *ret_n)
{
    if (ret_n)
        *ret_n = sizeof rules / sizeof rules[0];
    return rules;
}

const struct bide__lint_rule *bide__lint_of(const char *code)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (strcmp(rules[i].code, code) == 0)
            return &rules[i];
    return NULL;
}

struct bide__node *bide__set_by(const struct bide__linting *l,
                                const char *const *keys)
{
    for (; *keys; keys++) {
        const bide_option *o = bide__option_find(*keys, strlen(*keys));

        if (l->entry->set_by[bide__option_index(o)])
            return l->entry->set_by[bide__option_index(o)];
    }
    return NULL;
}

bool bide__retries(const struct bide__linting *l)
{
    return l->entry->conf.attempts > 1;
}

static struct bide__service service_of(const struct bide__policy_entry *entry,
                                       const struct bide__service *stated)
{
    struct bide__service s = entry->service;

    if (!stated)
        return s;
    if (stated->capacity_per_s >= 0)
        s.capacity_per_s = stated->capacity_per_s;
    if (stated->load_per_s >= 0)
        s.load_per_s = stated->load_per_s;
    if (stated->p99_ns >= 0)
        s.p99_ns = stated->p99_ns;
    if (stated->clients)
        s.clients = stated->clients;
    if (stated->depth)
        s.depth = stated->depth;
    return s;
}

static void lint_entry(const bide_config *config,
                       const struct bide__policy_entry *entry,
                       const struct bide__service *stated,
                       bide_diagnostics *notes)
{
    struct bide__linting l = { config, entry, service_of(entry, stated),
                               notes };

    bide__lint_time(&l);
    bide__lint_choices(&l);
    bide__lint_load(&l);
    bide__lint_outcomes(&l);
    bide__lint_idle(&l);
}

void bide__lint_with(const bide_config *config,
                     const struct bide__policy_entry *entry,
                     const struct bide__service *stated,
                     bide_diagnostics *notes)
{
    if (!notes)
        return;
    if (entry)
        lint_entry(config, entry, stated, notes);
    for (size_t i = 0; !entry && i < config->n_entries; i++)
        lint_entry(config, &config->entries[i], stated, notes);
    if (!entry && config->proxy_conf)
        bide__lint_proxy(config, notes);
    if (!entry && config->worker)
        bide__lint_worker(config, notes);
    bide__diag_sort(notes);
}

void bide__lint(const bide_config *config,
                const struct bide__policy_entry *entry, bide_diagnostics *notes)
{
    bide__lint_with(config, entry, NULL, notes);
}
