/* The wait before a retry: which backoff applies, and what the program's own
 * function makes of it.
 *
 * A backoff for a kind of failure is put together here, when such a failure has
 * happened, and not kept: it is used seldom, and a dependency for each host must
 * stay small. */
#include "lib/wait/wait.h"

#include <stddef.h>

#include "lib/wait/backoff.h"

static bool is_own(int64_t ns)
{
    return ns != BIDE_SAME;
}

/* A base, factor or cap of its own would have no effect beside a list. */
bide_backoff bide__backoff_with(const bide_backoff *backoff,
                                const bide_backoff_part *part)
{
    bide_backoff b = *backoff;
    bool factor = part->factor >= 0;
    if (is_own(part->base_ns) || is_own(part->cap_ns) || factor)
        b.delays.n = 0;
    if (is_own(part->base_ns))
        b.base_ns = part->base_ns;
    if (is_own(part->cap_ns))
        b.cap_ns = part->cap_ns;
    if (factor)
        b.factor = part->factor;
    if (part->delays.n != 0)
        b.delays = part->delays;
    return b;
}

bide_after bide__wait_after(const struct bide__call *c)
{
    if (c->cls == BIDE_THROTTLED)
        return BIDE_AFTER_THROTTLED;
    if (c->conflict)
        return BIDE_AFTER_CONFLICT;
    if (c->fault == BIDE_FAULT_TIMEOUT)
        return BIDE_AFTER_TIMEOUT;
    return BIDE_AFTER_FAILURE;
}

static const bide_backoff_part *part_of(const bide_policy_conf *conf,
                                        bide_after after)
{
    switch (after) {
    case BIDE_AFTER_THROTTLED:
        return &conf->backoff_throttled;
    case BIDE_AFTER_CONFLICT:
        return &conf->backoff_conflict;
    case BIDE_AFTER_TIMEOUT:
        return &conf->backoff_timeout;
    default:
        return NULL;
    }
}

bide_backoff bide_policy_backoff(const bide_policy_conf *conf, bide_after after)
{
    const bide_backoff_part *part = part_of(conf, after);
    return part ? bide__backoff_with(&conf->backoff, part) : conf->backoff;
}

/* What a program returns is checked, never believed. */
static int64_t ask_program(const struct bide__call *c, const bide_backoff *b,
                           uint32_t n, int64_t value, int64_t now)
{
    const bide_policy_conf *conf = &c->dep->policy.conf;
    int64_t left = c->deadline_ns;
    if (left != BIDE_FOREVER)
        left = bide__elapsed_ns(now, left);
    bide_wait_facts facts = {
        .retry = n,
        .cls = (bide_class)c->cls,
        .fault = (bide_fault)c->fault,
        .after = bide__wait_after(c),
        .value_ns = value,
        .previous_ns = c->previous_ns,
        .elapsed_ns = bide__elapsed_ns(c->begin_ns, now),
        .left_ns = left,
        .hint_ns = c->is.hinted ? bide__hint_ns(c) : -1,
    };
    int64_t own = conf->wait(conf->wait_ctx, &facts);
    return own < 0 ? value : bide__backoff_most(b, own);
}

void bide__wait_compute(struct bide__call *c, uint32_t n, int64_t now)
{
    const bide_policy_conf *conf = &c->dep->policy.conf;
    bide_after after = bide__wait_after(c);
    const bide_backoff *b = &conf->backoff;
    bide_backoff own;
    if (after != BIDE_AFTER_FAILURE) {
        own = bide_policy_backoff(conf, after);
        b = &own;
    }
    c->value_ns = bide_backoff_value(b, n);
    if (conf->wait)
        c->value_ns = ask_program(c, b, n, c->value_ns, now);
    bide__backoff_spread(b, c->value_ns, c->previous_ns, &c->wait_min_ns,
                         &c->wait_max_ns);
}
