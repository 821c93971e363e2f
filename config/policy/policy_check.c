/* policy_check.c: options that are valid by themselves and invalid together.
 *
 * The engine decides which combinations are valid (bide_policy_check) and names
 * one option; here that is reported with the position where it was set, and
 * with the other option that conflicts. To find all conflicts, the two are
 * reset and the engine is asked again. */
#include "config/policy/policy_check.h"

#include <string.h>

#include "config/field/option_value.h"
#include "config/policy/load.h"

/* Which other option an engine's refusal is about. */
static const char *const partners[][2] = {
    { "backoff.cap", "backoff.base" },
    { "backoff.floor", "backoff.cap" },
    { "backoff.shape", "backoff.jitter" },
    { "backoff.delays", "backoff.jitter" },
    { "backoff_throttled.base", "backoff.cap" },
    { "backoff_throttled.cap", "backoff_throttled.base" },
    { "backoff_throttled.delays", "backoff.jitter" },
    { "backoff_conflict.base", "backoff.cap" },
    { "backoff_conflict.cap", "backoff_conflict.base" },
    { "backoff_conflict.delays", "backoff.jitter" },
    { "backoff_timeout.base", "backoff.cap" },
    { "backoff_timeout.cap", "backoff_timeout.base" },
    { "backoff_timeout.delays", "backoff.jitter" },
    { "limits.adaptive_min", "limits.adaptive_max" },
    { "limits.adaptive_initial", "limits.adaptive_max" },
    { "breaker.min_calls", "breaker.window_calls" },
    { "breaker.open_max", "breaker.open" },
    { "hedge.max", "attempts" },
    { "hedge.quantile", "latency.measure" },
    { "hedge.extra_load", "hedge.max" },
};

static const bide_option *partner_of(const bide_option *o)
{
    for (size_t i = 0; i < sizeof partners / sizeof partners[0]; i++)
        if (strcmp(partners[i][0], o->key) == 0)
            return bide__option_find(partners[i][1], strlen(partners[i][1]));
    return NULL;
}

static struct bide__node *setter(const struct bide__policy_entry *entry,
                                 const bide_option *o)
{
    return o ? entry->set_by[bide__option_index(o)] : NULL;
}

/* Whether the parent policy has the same conflict, which was reported. */
static bool is_inherited(const struct bide__policy_entry *entry,
                         const bide_option *o, const bide_option *partner)
{
    const struct bide__policy_entry *p = entry->parent;

    return p && p->set_by && setter(p, o) == setter(entry, o) &&
           setter(p, partner) == setter(entry, partner);
}

static const char *origin(const struct bide__policy_entry *entry,
                          const bide_option *o)
{
    if (setter(entry, o))
        return "";
    return entry->preset ? " (from the preset)" : " (the default)";
}

static void report_pair(struct bide__load *load,
                        const struct bide__policy_entry *entry,
                        const bide_option *o, const bide_option *partner)
{
    char text[BIDE__VALUE_TEXT], other[BIDE__VALUE_TEXT];
    struct bide__node *first = setter(entry, o);
    struct bide__node *second = setter(entry, partner);

    bide__mistake(load,
                  first    ? first
                  : second ? second
                           : entry->key,
                  "contradiction", NULL,
                  "`%s` is %s%s and `%s` is %s%s: expected %s", o->key,
                  bide__option_text(&entry->conf, o, text, sizeof text),
                  origin(entry, o), partner->key,
                  bide__option_text(&entry->conf, partner, other, sizeof other),
                  origin(entry, partner), o->expects);
    if (first && second)
        bide__diag(load->notes, load->tree, second, BIDE_NOTE, "contradiction",
                   NULL, "`%s` is set here", partner->key);
}

static void report(struct bide__load *load,
                   const struct bide__policy_entry *entry, const bide_option *o,
                   const bide_option *partner)
{
    struct bide__node *node = setter(entry, o);
    char text[BIDE__VALUE_TEXT];

    if (partner)
        report_pair(load, entry, o, partner);
    else
        bide__mistake(load, node ? node : entry->key, "bad-value", NULL,
                      "`%s` is %s: expected %s", o->key,
                      bide__option_text(&entry->conf, o, text, sizeof text),
                      o->expects);
}

/* The engine sometimes looks at more than two options; with all of them at
 * their initial values, it has nothing left to report. */
static void set_back(bide_policy_conf *conf, const bide_option *o,
                     const bide_option *partner)
{
    static const bide_policy_conf init = BIDE_POLICY_CONF_INIT;

    bide__option_copy(conf, &init, o);
    if (partner)
        bide__option_copy(conf, &init, partner);
}

void bide__check_policy(struct bide__load *load,
                        const struct bide__policy_entry *entry)
{
    bide_policy_conf conf = entry->conf;
    size_t n;
    const bide_option *options = bide_policy_options(&n);

    for (size_t i = 0; i < n; i++) {
        int rc = bide_policy_check(&conf);
        const bide_option *o, *partner;

        if (rc > BIDE_EFIELD)
            return;
        o = &options[BIDE_EFIELD - rc];
        partner = partner_of(o);
        if (!is_inherited(entry, o, partner))
            report(load, entry, o, partner);
        set_back(&conf, o, partner);
    }
}
