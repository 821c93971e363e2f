/* Asks the engine itself instead of imitating it: creates a dependency and a
 * call that has made its earlier attempts elsewhere, reports the outcome and
 * reads the verdict. */
#include <string.h>
#include <time.h>

#include "cmd/explain/explain.h"
#include "lib/call.h"
#include "lib/response/hint.h"
#include "lib/response/rule.h"

/* ===== the response ===== */

/* Reads the same fields in the same way as bide_classify(), to name the one
 * that counted. */
static void find_speakers(const struct situation *s, struct answer *ret)
{
    const bide_response *r = &s->response;
    bool envoy = s->policy.conf.trust.envoy && ret->outcome.refused_below;
    struct bide__answer a = { .r = r };
    const bide_problem *problem = bide__answer_problem(&a);
    bide_hint all = BIDE_HINT_INIT;

    for (size_t i = 0; i < r->n_headers; i++) {
        bide_hint one = BIDE_HINT_INIT;
        bide_hint_header(&one, &r->headers[i], r->wall_s);
        bide_hint_header(&all, &r->headers[i], r->wall_s);
        if ((one.refused ||
             (envoy && bide__is_field(&r->headers[i], "x-envoy-overloaded"))) &&
            !ret->refused_by)
            ret->refused_by = r->headers[i].name;
    }
    if (problem && problem->has_retry_after)
        bide__hint_offer(&all, BIDE_HINT_PROBLEM, problem->retry_after_ns);
    if (problem && problem->not_retryable && !ret->refused_by)
        ret->refused_by = bide_hint_name(BIDE_HINT_PROBLEM);
    if (ret->outcome.hinted)
        ret->hint_source = all.source;
}

static void read_outcome(const bide_dep *dep, const struct situation *s,
                         struct answer *ret)
{
    ret->outcome = bide_classify(dep, &s->response);
    ret->by_rule = s->policy.conf.n_rules > 0 &&
                   bide_classify(NULL, &s->response).cls != ret->outcome.cls;
    if (ret->outcome.cls != BIDE_SUCCESS && ret->outcome.cls != BIDE_IGNORED)
        find_speakers(s, ret);
}

/* ===== the call ===== */

/* Draws the waits before this attempt as a call would, so that `explain
 * --attempt 3` agrees with the third wait of `schedule --draws 1`, and
 * decorrelated jitter has a previous wait to grow from. After so many draws
 * further ones make no difference. */
static int64_t draw_earlier(const struct situation *s, const bide_rng *rng)
{
    const uint32_t most = 1000000;
    int64_t wait = 0;

    for (uint32_t n = 0; n + 1 < s->attempt && n < most; n++)
        wait = bide_backoff_wait(&s->policy.conf.backoff, n, wait, rng);
    return wait;
}

/* It is not known when the attempt began, and hardly matters, but the engine
 * would not have started one past the deadline; and an attempt that timed out
 * has used its timeout, as far as there was time. */
static int64_t attempt_began(const struct situation *s, const bide_call *call)
{
    int64_t last = bide_call_deadline(call) - s->policy.conf.attempt_min_ns;
    int64_t began = s->elapsed_ns;

    if (s->answered && s->response.fault == BIDE_FAULT_TIMEOUT)
        began -= began < s->policy.conf.attempt_timeout_ns
                     ? began
                     : s->policy.conf.attempt_timeout_ns;
    if (!s->answered || last < 0)
        return began;
    return began < last ? began : last;
}

static void note_state(const bide_dep *dep, int64_t now, struct answer *ret)
{
    ret->budget_left = bide_dep_budget_left(dep, now);
    ret->breaker = bide_dep_breaker(dep, now);
    ret->open_until_ns = bide__breaker_open_until(&dep->breaker);
}

/* A breaker that is open lets no attempt begin: if there was one, it opened
 * since. */
static void run_call(bide_call *call, bide_dep *dep, const struct situation *s,
                     struct answer *ret)
{
    bide_breaker_mode mode = s->breaker_open ? BIDE_BREAKER_FORCED_OPEN
                                             : dep->policy.conf.breaker.mode;

    if (!s->answered)
        bide_dep_force_breaker(dep, mode);
    bide_decision d = bide_call_next(call, attempt_began(s, call));
    bide_dep_force_breaker(dep, mode);
    note_state(dep, s->elapsed_ns, ret);
    ret->decision = d.action == BIDE_DONE ? "stop" : "try";
    if (s->answered && d.action == BIDE_TRY) {
        bide_call_report(call, d.attempt, &ret->outcome, s->elapsed_ns);
        note_state(dep, s->elapsed_ns, ret);
        d = bide_call_next(call, s->elapsed_ns);
        ret->decision = d.action == BIDE_DONE ? "stop" : "retry";
        ret->judged = bide_call_verdict(call, &ret->verdict) == 0;
    }
    ret->reason = d.reason;
    ret->timeout_ns = d.timeout_ns;
}

/* The engine tells "now", which a server has said, from no hint at all by the
 * shortest time there is. */
static void round_down(struct answer *ret)
{
    if (!ret->outcome.hint_exact || ret->outcome.hint_ns != 1)
        return;
    ret->outcome.hint_ns = 0;
    if (ret->verdict.wait_ns == 1)
        ret->verdict.wait_ns = ret->verdict.wait_min_ns =
            ret->verdict.wait_max_ns = 0;
}

/* What the request says about layers above, as a driver would read it. */
static void read_claim(struct situation *s)
{
    int64_t wall_s = s->response.wall_s > 0 ? s->response.wall_s : time(NULL);

    s->above = (bide_claim)BIDE_CLAIM_INIT;
    for (size_t i = 0; i < s->response.n_headers; i++)
        bide_claim_header(&s->above, &s->headers[i], &s->policy.conf.trust,
                          wall_s * 1000);
    bide_claim_apply(&s->above, &s->op, 0);
}

/* One that never has anything to give. */
static void spend_budget(bide_budget_conf *budget)
{
    budget->kind = BIDE_BUDGET_WINDOW;
    budget->ratio = 0;
    budget->floor_per_s = 0;
}

int explain_ask(struct situation *s, struct answer *ret)
{
    bide_rng_seeded state;
    bide_rng rng = bide_rng_seed(&state, s->policy.seed);
    bide_host host = { .seed = &s->policy.seed };
    bide_dep *dep;
    bide_call call;
    if (s->budget_spent)
        spend_budget(&s->policy.conf.budget);
    int rc = bide_dep_new_in(&dep, "explain", &s->policy.conf, &host);

    if (rc < 0)
        return rc;
    *ret = (struct answer){ .attempts = dep->policy.max_attempts };
    if (s->answered)
        read_outcome(dep, s, ret);
    ret->previous_ns = draw_earlier(s, &rng);
    ret->budget_all = bide_dep_budget_left(dep, 0);

    s->op.rng = &rng;
    s->op.idempotent = bide_method_idempotent(s->method);
    s->op.attempts_made = s->attempt - 1;
    read_claim(s);
    bide_call_begin(&call, dep, &s->op, 0);
    ((struct bide__call *)&call)->previous_ns = ret->previous_ns;
    ret->deadline_ns = bide_call_deadline(&call);
    run_call(&call, dep, s, ret);
    round_down(ret);
    bide_call_end(&call, s->elapsed_ns);
    bide_dep_free(dep);
    return 0;
}
