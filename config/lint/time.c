/* time.c: whether the durations of a policy are consistent. */
#include <string.h>

#include "config/field/value.h"
#include "config/lint/lint.h"
#include "config/lint/policy_lints.h"
#include "config/proxy/conf.h"
#include "config/worker/conf.h"

#define SHOWN 40

static int64_t add(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static int64_t times(int64_t ns, uint64_t n)
{
    return n && ns > INT64_MAX / (int64_t)n ? INT64_MAX : ns * (int64_t)n;
}

/* After this many retries the waits have practically stopped growing, and the
 * rest are assumed to be as long as the last. */
enum { COUNTED = 256 };

int64_t bide__longest_waits(const bide_policy_conf *conf, uint32_t attempts)
{
    int64_t total = 0, low, longest = 0;
    uint32_t n = 0;

    for (; n + 1 < attempts && n < COUNTED; n++) {
        bide_backoff_range(&conf->backoff, n, longest, &low, &longest);
        total = add(total, longest);
    }
    return n + 1 < attempts ? add(total, times(longest, attempts - 1 - n))
                            : total;
}

int64_t bide__longest_call(const bide_policy_conf *conf, uint32_t attempts)
{
    return add(times(conf->attempt_timeout_ns, attempts),
               bide__longest_waits(conf, attempts));
}

/* Whether it is a worker's alone: nobody waits for a message, and about deadlines
 * L029 knows more. */
static bool nobody_waits(const struct bide__linting *l)
{
    const struct bide__proxy_conf *proxy = l->config->proxy_conf;
    const struct bide__worker_settings *worker = l->config->worker;

    for (size_t i = 0; proxy && i < proxy->n_routes; i++)
        if (proxy->routes[i].policy == &l->entry->conf)
            return false;
    return worker && worker->policy &&
           strcmp(worker->policy, l->entry->name) == 0;
}

/* ===== L001 ===== */

/* The most attempts that fit, at least 1. */
static uint32_t fitting_attempts(const bide_policy_conf *conf)
{
    uint32_t n = 1;

    while (n < conf->attempts && n < 1000 &&
           bide__longest_call(conf, n + 1) <= conf->deadline_ns)
        n++;
    return n;
}

/* Down to two digits, as a person would choose. */
static int64_t rounded_down(int64_t ns)
{
    int64_t unit = 1;

    while (ns / unit >= 100)
        unit *= 10;
    return ns / unit * unit;
}

static int64_t rounded_up(int64_t ns)
{
    int64_t unit = ns < BIDE_SECOND   ? BIDE_MILLISECOND
                   : ns < BIDE_MINUTE ? BIDE_SECOND
                                      : BIDE_MINUTE;

    return ns > INT64_MAX - unit ? ns : (ns + unit - 1) / unit * unit;
}

static const char *deadline_help(const struct bide__linting *l, int64_t total)
{
    const bide_policy_conf *c = &l->entry->conf;
    char timeout[SHOWN], deadline[SHOWN];
    int64_t left = c->deadline_ns - bide__longest_waits(c, c->attempts);
    uint32_t attempts = fitting_attempts(c);
    const char *text;

    text = bide__diag_text(l->notes, "write `attempts: %lu`",
                           (unsigned long)attempts);
    if (left / c->attempts >= BIDE_MILLISECOND && text)
        text = bide__diag_text(
            l->notes, "%s, or `attempt_timeout: %s`", text,
            bide_format_duration(rounded_down(left / c->attempts), timeout,
                                 SHOWN));
    if (total < BIDE_HOUR && text)
        text = bide__diag_text(
            l->notes, "%s, or `deadline: %s`", text,
            bide_format_duration(rounded_up(total), deadline, SHOWN));
    return text;
}

static void over_deadline(const struct bide__linting *l)
{
    const bide_policy_conf *c = &l->entry->conf;
    struct bide__node *node =
        BIDE__SET_BY(l, "deadline", "attempts", "attempt_timeout");
    int64_t total = bide__longest_call(c, c->attempts);
    char timeout[SHOWN], all[SHOWN], deadline[SHOWN];

    if (!node || c->deadline_ns == BIDE_FOREVER || total <= c->deadline_ns ||
        nobody_waits(l))
        return;
    bide_format_duration(c->deadline_ns, deadline, SHOWN);
    if (c->attempt_timeout_ns == BIDE_FOREVER) {
        bide__warn(l, node, "L001",
                   "give `attempt_timeout` a share of the deadline",
                   "the first attempt may take all of the deadline of %s, and "
                   "leave nothing for the other %lu",
                   deadline, (unsigned long)c->attempts - 1);
        return;
    }
    bide__warn(
        l, node, "L001", deadline_help(l, total),
        "%lu attempts of up to %s and their waits take up to %s, and the "
        "deadline is %s",
        (unsigned long)c->attempts,
        bide_format_duration(c->attempt_timeout_ns, timeout, SHOWN),
        bide__format_about(total, all, SHOWN), deadline);
}

/* ===== L003, L013 ===== */

static int64_t longest_wait(const bide_policy_conf *c)
{
    int64_t low, longest = 0;

    for (uint32_t n = 0; n + 1 < c->attempts && n < COUNTED; n++)
        bide_backoff_range(&c->backoff, n, longest, &low, &longest);
    return longest;
}

/* A cap that a few attempts do not get to is a safety net: nearly every
 * published policy has one (100 ms, 5 attempts, a cap of 32 s). Waits that do
 * not grow are another matter. */
static void cap_never_reached(const struct bide__linting *l)
{
    static const bide_policy_conf init = BIDE_POLICY_CONF_INIT;
    const bide_policy_conf *c = &l->entry->conf;
    struct bide__node *node = BIDE__SET_BY(l, "backoff.cap");
    int64_t longest = longest_wait(c);
    char cap[SHOWN], wait[SHOWN];

    if (!node || c->backoff.cap_ns == init.backoff.cap_ns ||
        c->backoff.factor > 1 || longest >= c->backoff.cap_ns)
        return;
    bide_format_duration(longest, wait, SHOWN);
    bide__warn(l, node, "L003",
               "leave `cap` out, or write a `factor` over 1",
               "with `factor: 1` no wait is longer than %s, and the cap of %s "
               "is never reached",
               wait, bide_format_duration(c->backoff.cap_ns, cap, SHOWN));
}

/* Less than a round trip is no wait. How long one takes is not known; 10 ms is
 * across a continent, and less if the service is known to answer in less. */
static int64_t round_trip(const struct bide__linting *l)
{
    int64_t usual = 10 * BIDE_MILLISECOND, p99 = l->service.p99_ns;

    return p99 >= 0 && p99 < usual ? p99 : usual;
}

static void no_wait(const struct bide__linting *l)
{
    const bide_policy_conf *c = &l->entry->conf;
    struct bide__node *node = BIDE__SET_BY(l, "backoff.base", "backoff.cap");
    int64_t longest = longest_wait(c);
    char wait[SHOWN];

    if (!node || (longest > 0 && longest >= round_trip(l)))
        return;
    if (longest == 0)
        bide__warn(l, node, "L013", "write `base: 100ms`",
                   "the retries do not wait at all");
    else
        bide__warn(l, node, "L013", "write `base: 100ms`",
                   "no wait is longer than %s",
                   bide_format_duration(longest, wait, SHOWN));
}

/* ===== L007, L012, L014, L025 ===== */

static void timeout_under_p99(const struct bide__linting *l)
{
    const bide_policy_conf *c = &l->entry->conf;
    struct bide__node *node = BIDE__SET_BY(l, "attempt_timeout");
    int64_t p99 = l->service.p99_ns;
    char timeout[SHOWN], stated[SHOWN], twice[SHOWN];

    if (p99 < 0 || c->attempt_timeout_ns >= p99)
        return;
    bide_format_duration(times(p99, 2), twice, SHOWN);
    bide__warn(
        l, node ? node : l->entry->key, "L007",
        bide__diag_text(l->notes,
                        "write `attempt_timeout: %s`, twice "
                        "the p99, or more",
                        twice),
        "an attempt may take %s, and the stated p99 of the service is %s",
        bide_format_duration(c->attempt_timeout_ns, timeout, SHOWN),
        bide_format_duration(p99, stated, SHOWN));
}

/* Attempts that hang hold their caller for all of the timeout: 30 times what all
 * but one in a hundred take is time in which several retries would have been
 * answered. Under a second nobody waits for long. */
static void timeout_far_over_p99(const struct bide__linting *l)
{
    enum { FAR = 30 };
    const bide_policy_conf *c = &l->entry->conf;
    struct bide__node *node = BIDE__SET_BY(l, "attempt_timeout");
    int64_t p99 = l->service.p99_ns, timeout = c->attempt_timeout_ns;
    char shown[SHOWN], stated[SHOWN], better[SHOWN];

    if (p99 <= 0 || timeout <= BIDE_SECOND || timeout / FAR < p99)
        return;
    bide_format_duration(rounded_up(times(p99, 3)), better, SHOWN);
    bide_format_duration(p99, stated, SHOWN);
    const char *help = bide__diag_text(l->notes,
                                       "write `attempt_timeout: %s`, three "
                                       "times the p99, or somewhat more",
                                       better);
    if (timeout == BIDE_FOREVER)
        bide__warn(l, node ? node : l->entry->key, "L025", help,
                   "an attempt that hangs never ends, and the stated p99 of "
                   "the service is %s",
                   stated);
    else
        bide__warn(l, node ? node : l->entry->key, "L025", help,
                   "an attempt that hangs takes %s, %lld times the stated p99 "
                   "of the service, %s",
                   bide_format_duration(timeout, shown, SHOWN),
                   (long long)(timeout / p99), stated);
}

/* No limit on hints but the deadline is reasonable, and not reported. */
static void hint_over_deadline(const struct bide__linting *l)
{
    static const bide_policy_conf init = BIDE_POLICY_CONF_INIT;
    const bide_policy_conf *c = &l->entry->conf;
    struct bide__node *node = BIDE__SET_BY(l, "retry_after.max");
    char max[SHOWN], deadline[SHOWN];

    if (!node || c->retry_after.max_ns == init.retry_after.max_ns ||
        c->retry_after.max_ns == BIDE_FOREVER ||
        c->retry_after.max_ns <= c->deadline_ns)
        return;
    bide_format_duration(c->deadline_ns, deadline, SHOWN);
    bide__warn(l, node, "L012",
               bide__diag_text(l->notes, "write `max: %s` or less", deadline),
               "hints of up to %s are allowed, and the deadline is %s",
               bide_format_duration(c->retry_after.max_ns, max, SHOWN),
               deadline);
}

static void no_deadline(const struct bide__linting *l)
{
    const bide_policy_conf *c = &l->entry->conf;
    struct bide__node *node =
        BIDE__SET_BY(l, "attempts", "attempt_timeout", "backoff.cap",
                     "backoff.base", "backoff.factor");
    int64_t total = bide__longest_call(c, c->attempts);
    char all[SHOWN];

    if (!node || c->deadline_ns != BIDE_FOREVER || total <= 5 * BIDE_MINUTE ||
        nobody_waits(l))
        return;
    bide__warn(l, node, "L014",
               "add `deadline: 30s`, or as long as callers really wait",
               total == BIDE_FOREVER
                   ? "without a deadline, a call may take %s"
                   : "without a deadline, a call may take up to %s",
               bide__format_about(total, all, SHOWN));
}

void bide__lint_time(const struct bide__linting *l)
{
    if (bide__retries(l)) {
        over_deadline(l);
        cap_never_reached(l);
        no_wait(l);
        hint_over_deadline(l);
    }
    no_deadline(l);
    timeout_under_p99(l);
    timeout_far_over_p99(l);
}
