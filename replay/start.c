/* The state that a replay starts from: its keys, and what they mean to the
 * engine. */
#include "replay/start.h"

#include "bide/state.h"
#include "config/field/rows.h"
#include "replay/ask.h"
#include "replay/driver.h"

static const char *const states[] = {
#define X(name, key) key,
    BIDE_BREAKER_STATES(X)
#undef X
        NULL
};

enum { MOST = 1 << 27 }; /* what the windows of the engine count to */

/* clang-format off */
#define S struct replay_start
static const struct bide__field fields[] = {
    { "spent", AT(spent), TAKES_RATIO(0, 1000),
      .help = "Share of the budget that is spent." },
    { "tokens", AT(tokens), TAKES_NUMBER(0, 1000000000),
      .help = "Tokens that are left, of a budget that has tokens." },
    { "deposits", AT(deposits), TAKES_RATE(0, 1000000),
      .help = "Deposits into a budget of kind window, over its window." },
    { "breaker", AT(breaker), TAKES_CHOICE(states, "closed, open or half_open"),
      .help = "State of the breaker." },
    { "open", AT(open_ns), TAKES_DURATION,
      .help = "How much longer an open breaker stays open." },
    { "reopenings", AT(reopenings), TAKES_COUNT(0, 1000000),
      .help = "Times that the breaker has reopened in a row." },
    { "failed_in_a_row", AT(in_a_row), TAKES_COUNT(0, 1000000),
      .help = "Failures in a row that a closed breaker has seen." },
    { "attempts", AT(attempts), TAKES(COUNT, 0, MOST, "a count up to 2^27"),
      .help = "Attempts that a closed breaker has counted." },
    { "failed", AT(failed), TAKES(COUNT, 0, MOST, "a count up to 2^27"),
      .help = "Those of them that failed." },
    { "slow", AT(slow), TAKES(COUNT, 0, MOST, "a count up to 2^27"),
      .help = "Those of them that were slow." },
    { "rate", AT(rate), TAKES_RATE(0, 1000000),
      .help = "Attempts that limits.adaptive_rate allows; 0: all." },
    LAST
};
#undef S
/* clang-format on */

const struct bide__table replay_start_table = { .fields = fields };

/* How many tokens a full budget has; 0: it has none. */
static double all_tokens(const bide_budget_conf *b)
{
    if (b->kind == BIDE_BUDGET_QUOTA)
        return b->capacity;
    return b->kind == BIDE_BUDGET_THROTTLE ? b->max_tokens : 0;
}

static const char *set_budget(bide_dep_state *state,
                              const struct replay_start *s,
                              const bide_budget_conf *b)
{
    double all = all_tokens(b);

    state->deposits_per_s = s->deposits;
    if (s->spent >= 0)
        state->budget_spent = s->spent;
    if (s->tokens < 0)
        return NULL;
    if (s->spent >= 0)
        return "`tokens` and `spent` say the same: expected one of them";
    if (all <= 0)
        return "the policy's budget has no tokens: expected `spent`, or "
               "`budget.kind` quota or throttle";
    if (s->tokens > all)
        return "there are more `tokens` than the policy's budget holds";
    state->budget_spent = 1 - s->tokens / all;
    return NULL;
}

static const char *set_breaker(bide_dep_state *state,
                               const struct replay_start *s,
                               const bide_breaker_conf *b, int64_t now)
{
    bool counts = s->attempts || s->failed || s->slow || s->in_a_row;
    int64_t open_ns = s->open_ns >= 0 ? s->open_ns : b->open_ns;

    if (b->kind == BIDE_BREAKER_OFF &&
        (counts || s->breaker != BIDE_BREAKER_CLOSED))
        return "the policy has no breaker: expected `breaker.kind` time or "
               "count";
    if (counts && s->breaker != BIDE_BREAKER_CLOSED)
        return "only a closed breaker counts: expected no `attempts`, "
               "`failed`, `slow` or `failed_in_a_row`";
    if (s->open_ns >= 0 && s->breaker != BIDE_BREAKER_OPEN)
        return "`open` is how long it stays open: expected `breaker` open";
    state->breaker = s->breaker;
    state->open_until_ns = s->breaker == BIDE_BREAKER_OPEN
                               ? replay_later(now, open_ns)
                               : 0;
    state->reopenings = s->reopenings;
    state->failed_in_a_row = s->in_a_row;
    state->attempts = s->attempts > s->failed ? s->attempts : s->failed;
    if (state->attempts < s->slow)
        state->attempts = s->slow;
    state->failed = s->failed;
    state->slow = s->slow;
    return NULL;
}

const char *replay_start_set(struct replay *r, const struct replay_start *s)
{
    const bide_policy_conf *conf = bide_dep_policy(r->dep);
    bide_dep_state state = BIDE_DEP_STATE_INIT;
    const char *why = set_budget(&state, s, &conf->budget);

    if (!why)
        why = set_breaker(&state, s, &conf->breaker, r->now_ns);
    if (why)
        return why;
    if (s->rate > 0)
        state.rate = s->rate;
    state.mode = conf->breaker.mode;
    return bide_dep_state_set(r->dep, &state, r->now_ns) < 0
               ? "the values are out of range"
               : NULL;
}
