/* retry_set.c: what a policy retries, as sets.
 *
 * Other systems list what they retry; bide has rules, of which the first that
 * matches decides, and a table of defaults behind them. Asking the rules about
 * every status, fault and code gives the lists, however the rules were put. A
 * rule with two conditions ("503 of a POST") cannot be put as a list and is
 * told. */
#include "config/policy/retry_set.h"

#include <string.h>

#include "config/translate/translate.h"

enum { LAST_STATUS = 999 };

void bide__status_add(struct bide__retry_set *set, unsigned from, unsigned to)
{
    for (unsigned s = from; s <= to && s <= LAST_STATUS; s++)
        set->status[s / 64] |= UINT64_C(1) << s % 64;
}

bool bide__status_in(const struct bide__retry_set *set, unsigned status)
{
    return status <= LAST_STATUS &&
           (set->status[status / 64] >> status % 64 & 1) != 0;
}

bool bide__status_registered(unsigned s)
{
    return (s >= 100 && s <= 103) || (s >= 200 && s <= 208) || s == 226 ||
           (s >= 300 && s <= 308 && s != 306) || (s >= 400 && s <= 418) ||
           (s >= 421 && s <= 426) || s == 428 || s == 429 || s == 431 ||
           s == 451 || (s >= 500 && s <= 508) || s == 510 || s == 511;
}

/* ===== asking the rules ===== */

/* Whether a rule asks for one thing only: a status, faults, or codes. */
static bool is_plain(const bide_rule *r)
{
    int asked = (r->status_max != 0) + (r->faults != 0) + (r->grpc != 0);

    return asked == 1 && !r->method && !r->header && !r->problem_type;
}

static bool retried(bide_class cls)
{
    return cls == BIDE_TRANSIENT || cls == BIDE_THROTTLED;
}

/* The class of an answer: the first plain rule that matches, or the default. */
static bide_class class_of(const bide_policy_conf *conf, const bide_response *r)
{
    for (size_t i = 0; i < conf->n_rules; i++) {
        const bide_rule *rule = &conf->rules[i];
        bool matches = r->fault != BIDE_FAULT_NONE
                           ? (rule->faults >> r->fault & 1) != 0
                       : r->is_grpc ? (rule->grpc >> r->grpc_status & 1) != 0
                                    : r->status >= rule->status_min &&
                                          r->status <= rule->status_max;

        if (is_plain(rule) && matches)
            return rule->cls;
    }
    return bide_classify(NULL, r).cls;
}

/* ===== telling what cannot be put as a list ===== */

static const char *rule_text(struct bide__translation *t, const bide_rule *r)
{
    struct bide__retry_set set = { { 0 }, 0, 0 };
    struct bide__arena *a = t->arena;

    if (r->status_max)
        bide__status_add(&set, r->status_min, r->status_max);
    return bide__arena_printf(
        a, "%s%s%s%s%s%s%s%s%s%s%s%s-> %s%s",
        r->status_max ? bide__status_text(a, &set) : "",
        r->status_max ? " " : "",
        r->faults ? bide__fault_text(a, r->faults) : "", r->faults ? " " : "",
        r->grpc ? bide__grpc_text(a, r->grpc) : "", r->grpc ? " " : "",
        r->method ? r->method : "", r->method ? " " : "",
        r->header ? r->header : "", r->header ? " " : "",
        r->problem_type ? r->problem_type : "", r->problem_type ? " " : "",
        bide_class_name(r->cls), r->not_processed ? ", not processed" : "");
}

static void tell(struct bide__translation *t, size_t i, const bide_rule *r)
{
    const char *key = bide__arena_printf(t->arena, "rules[%zu]", i);
    const char *text = rule_text(t, r);

    t->no_memory = t->no_memory || !key || !text;
    if (!is_plain(r))
        bide__lost_other(t, key, text,
                         "what is retried is a list of statuses, errors and "
                         "codes, without further conditions",
                         NULL);
    else if (r->not_processed && !r->grpc) /* what lists codes repeats anything */
        bide__lost_other(t, key, text,
                         "no answer is known to prove that nothing was done",
                         NULL);
    else if (r->cls == BIDE_SUCCESS || r->cls == BIDE_IGNORED)
        bide__lost_other(t, key, text,
                         "what counts as a failure cannot be chosen",
                         "\"not retried\"");
}

void bide__retry_set_of(struct bide__retry_set *set,
                        const bide_policy_conf *conf,
                        struct bide__translation *t)
{
    bide_response r = { .status = 0 };

    memset(set, 0, sizeof *set);
    for (r.status = 100; r.status <= LAST_STATUS; r.status++)
        if (retried(class_of(conf, &r)))
            bide__status_add(set, (unsigned)r.status, (unsigned)r.status);
    r.status = 0;
    for (int f = BIDE_FAULT_NONE + 1; f < BIDE_N_FAULTS; f++) {
        r.fault = (bide_fault)f;
        if (f != BIDE_FAULT_REFUSED_STREAM && retried(class_of(conf, &r)))
            set->faults |= 1u << f;
    }
    r.fault = BIDE_FAULT_NONE;
    r.is_grpc = true;
    for (r.grpc_status = 0; r.grpc_status < BIDE_N_GRPC; r.grpc_status++)
        if (retried(class_of(conf, &r)))
            set->grpc |= 1u << r.grpc_status;
    for (size_t i = 0; t && i < conf->n_rules; i++)
        tell(t, i, &conf->rules[i]);
}

/* ===== as text ===== */

static const char *join(struct bide__arena *arena, const char *list,
                        const char *item)
{
    if (!list || !item)
        return NULL;
    return *list ? bide__arena_printf(arena, "%s, %s", list, item) : item;
}

const char *bide__status_text(struct bide__arena *arena,
                              const struct bide__retry_set *set)
{
    const char *list = "";

    for (unsigned s = 0, end; s <= LAST_STATUS; s = end + 1) {
        end = s;
        if (!bide__status_in(set, s))
            continue;
        while (bide__status_in(set, end + 1))
            end++;
        list = join(arena, list,
                    s == end ? bide__arena_printf(arena, "%u", s)
                             : bide__arena_printf(arena, "%u-%u", s, end));
    }
    return list;
}

const char *bide__fault_text(struct bide__arena *arena, uint32_t faults)
{
    const char *list = "";

    for (int f = 0; f < BIDE_N_FAULTS; f++)
        if (faults >> f & 1)
            list = join(arena, list, bide_fault_name((bide_fault)f));
    return list;
}

const char *bide__grpc_text(struct bide__arena *arena, uint32_t codes)
{
    const char *list = "";

    for (int c = 0; c < BIDE_N_GRPC; c++)
        if (codes >> c & 1)
            list = join(arena, list, bide_grpc_name(c));
    return list;
}
