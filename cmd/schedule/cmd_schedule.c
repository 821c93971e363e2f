/* bide schedule: the waits that a policy would make. */
#include <stdlib.h>
#include <string.h>

#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/common/policy_choice.h"
#include "cmd/schedule/command.h"
#include "cmd/schedule/schedule.h"
#include "cmd/schedule/waits.h"
#include "config/field/rows.h"
#include "lib/ns.h"

static const struct flag flag_list[] = {
    { "draws", 'n', "N", "draw the waits N times, with jitter" },
    { "after", 0, "FAILURE", "the waits after such failures: any (the default), "
                             "throttled, conflict or timeout" },
    { "json", 0, NULL, "print JSON" },
    POLICY_FLAGS,
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    "bide schedule [options]",
    "Shows how long a policy waits before each retry: as it is computed, and "
    "what jitter makes of it, as a table and drawn over time. Hints of servers "
    "are not looked at; see `bide explain`.",
    flag_list,
    "Exit codes: 0 done, 2 an error in the arguments or in the policy.\n\n"
    "Examples:\n"
    "  bide schedule\n"
    "  bide schedule --attempts 8 --jitter decorrelated --cap 5s\n"
    "  bide schedule -p bide.yaml:payments --after conflict\n"
    "  bide schedule -p bide.yaml:payments --draws 1000 --seed 1 --json",
};

/* ===== the waits ===== */

/* With decorrelated jitter a wait depends on the previous one: its bounds
 * follow from the bounds of the previous wait. */
static void look(struct waits *w, uint32_t n, int64_t min, int64_t max)
{
    int64_t other;
    struct wait *now = &w->now;

    bide_backoff_range(w->backoff, n, min, &now->min_ns, &other);
    bide_backoff_range(w->backoff, n, max, &other, &now->max_ns);
    now->value_ns = bide_backoff_value(w->backoff, n);
    if (now->value_ns < w->backoff->floor_ns)
        now->value_ns = w->backoff->floor_ns;
    now->retry = n + 1;
    now->mean_ns = now->min_ns + (now->max_ns - now->min_ns) / 2;
    now->sum_ns = bide__add_ns(now->sum_ns, now->max_ns);
    now->least_ns = bide__add_ns(now->least_ns, now->min_ns);
}

void waits_begin(struct waits *w, const bide_backoff *backoff)
{
    *w = (struct waits){ .backoff = backoff };
    look(w, 0, 0, 0);
}

void waits_next(struct waits *w)
{
    look(w, w->now.retry, w->now.min_ns, w->now.max_ns);
}

bool waits_settled(const struct waits *w)
{
    struct waits next = *w;

    waits_next(&next);
    return next.now.value_ns == w->now.value_ns &&
           next.now.max_ns == w->now.max_ns && next.now.min_ns == w->now.min_ns;
}

/* ===== flags ===== */

static const char *const failures[] = { "any", "throttled", "conflict",
                                        "timeout", NULL };

#define S struct schedule
static const struct bide__field fields[] = {
    { "draws", AT(draws),
      TAKES(COUNT, 1, 1000000, "a number from 1 to 1000000") },
    { "after", AT(after),
      TAKES_CHOICE(failures, "any, throttled, conflict or timeout") },
    { "json", AT(json), TAKES_FLAG },
    LAST
};
#undef S
static const struct bide__table table = { .fields = fields };

static const char *take(void *ctx, const char *name, const char *argument)
{
    struct schedule *s = ctx;
    const char *expected = NULL;
    int taken = field_flag(&table, s, name, argument, &expected);

    if (taken == 0)
        taken = policy_flag(&s->policy, name, argument, &expected);
    return taken < 0 ? expected : NULL;
}

/* Refuses output that would fill a disk before writing the first line. */
static int check_size(const struct schedule *s)
{
    const uint64_t most = 100 * (uint64_t)MOST_RETRIES;

    if ((s->json || s->draws) && s->retries > MOST_RETRIES)
        return complain("schedule",
                        "the policy allows %u retries, expected at "
                        "most %d to list them one by one",
                        s->retries, MOST_RETRIES);
    if ((uint64_t)s->draws * s->retries > most)
        return complain("schedule",
                        "%u draws of %u waits are too many, "
                        "expected at most %llu waits in all",
                        s->draws, s->retries, (unsigned long long)most);
    return -1;
}

int cmd_schedule(int argc, char **argv)
{
    struct schedule s = { .policy = POLICY_CHOICE_INIT };
    int rc;

    s.policy.command = argv[0];
    rc = flags_parse(&flags, argc, argv, take, &s, NULL);
    if (rc < 0)
        rc = policy_settle(&s.policy);
    s.retries = s.policy.conf.attempts - 1;
    s.policy.conf.backoff = bide_policy_backoff(&s.policy.conf, s.after);
    if (rc < 0)
        rc = check_size(&s);
    if (rc < 0) {
        if (s.json)
            schedule_json(&s);
        else
            schedule_print(&s);
        rc = EXIT_OK;
    }
    policy_done(&s.policy);
    return rc;
}
