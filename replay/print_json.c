/* A row as a JSON object on a line of its own. Times are milliseconds. */
#include "base/json.h"
#include "replay/print.h"
#include "replay/replay.h"

static double ms(int64_t ns)
{
    return (double)ns / 1e6;
}

static void json_time(struct bide__json *j, const char *key, int64_t ns)
{
    if (ns == BIDE_FOREVER)
        bide__json_null(j, key);
    else
        bide__json_number(j, key, ms(ns));
}

static void json_outcome(struct bide__json *j, const struct replay_row *row)
{
    const bide_outcome *out = row->outcome;
    if (row->raw->is_grpc)
        bide__json_text(j, "grpc", bide_grpc_name(row->raw->grpc));
    if (out->status)
        bide__json_integer(j, "status", out->status);
    if (out->fault != BIDE_FAULT_NONE)
        bide__json_text(j, "error", bide_fault_name(out->fault));
    if (out->not_processed)
        bide__json_flag(j, "not_processed", true);
    if (out->refused)
        bide__json_flag(j, "refused", true);
    if (out->hinted)
        json_time(j, "hint_ms", out->hint_ns);
}

static void json_event(struct bide__json *j, const struct replay_row *row)
{
    bide__json_text(j, "event", replay_cause_name(row->cause));
    if (row->of)
        bide__json_integer(j, "of", row->of);
    if (row->outcome)
        json_outcome(j, row);
    if (row->cause == REPLAY_BREAKER) {
        bide__json_text(j, "from", bide_breaker_state_name(row->from));
        bide__json_text(j, "to", bide_breaker_state_name(row->to));
        if (row->until_ns)
            json_time(j, "until_ms", row->until_ns);
    }
    if (row->cause == REPLAY_FORCED)
        bide__json_text(j, "mode", replay_mode_name(row->mode));
}

static void json_wait(struct bide__json *j, const struct replay_row *row)
{
    const bide_decision *d = &row->decision;
    bide_verdict v;
    json_time(j, "at_ms", d->at_ns);
    json_time(j, "wait_ms",
              d->at_ns == BIDE_FOREVER ? d->at_ns : d->at_ns - row->now_ns);
    if ((row->cause == REPLAY_RESULT || row->cause == REPLAY_TIMEOUT) &&
        (d->reason == BIDE_BECAUSE_BACKOFF || d->reason == BIDE_BECAUSE_HINT) &&
        bide_call_verdict(&row->call->call, &v) == 0) {
        json_time(j, "wait_min_ms", v.wait_min_ns);
        json_time(j, "wait_max_ms", v.wait_max_ns);
    }
}

static void json_decision(struct bide__json *j, const struct replay_row *row)
{
    static const char *const actions[] = { "try", "wait", "done" };
    const bide_decision *d = &row->decision;

    bide__json_text(j, "decision", row->decided ? actions[d->action] : "none");
    if (!row->decided)
        return;
    bide__json_text(j, "reason", bide_reason_name(d->reason));
    bide__json_integer(j, "attempt", bide_call_attempts(&row->call->call));
    if (row->call->had_outcome)
        bide__json_text(j, "class", bide_class_name(row->call->last_class));
    else
        bide__json_null(j, "class");
    if (row->unhedged != BIDE_BECAUSE_SUCCESS)
        bide__json_text(j, "hedge_refused", bide_reason_name(row->unhedged));
    if (d->action == BIDE_TRY)
        json_time(j, "timeout_ms", d->timeout_ns);
    else if (d->action == BIDE_WAIT)
        json_wait(j, row);
    else if (d->at_ns != BIDE_FOREVER)
        json_time(j, "at_ms", d->at_ns);
    if (row->n_stopped) {
        bide__json_list(j, "stopped");
        for (unsigned i = 0; i < row->n_stopped; i++)
            bide__json_integer(j, NULL, row->stopped[i]);
        bide__json_end(j);
    }
}

static void json_state(struct bide__json *j, const struct replay *r)
{
    bide_breaker_view b;
    bide_dep_breaker_view(r->dep, r->now_ns, &b);
    int64_t budget = bide_dep_budget_left(r->dep, r->now_ns);
    double all = (double)b.attempts;
    bide_budget_view spent;

    bide__json_object(j, "state");
    bide__json_text(j, "breaker", bide_breaker_state_name(b.state));
    bide__json_integer(j, "breaker_attempts", (int64_t)b.attempts);
    bide__json_number(j, "breaker_failure_rate",
                      b.attempts ? (double)b.failed / all : 0);
    bide__json_number(j, "breaker_slow_rate",
                      b.attempts ? (double)b.slow / all : 0);
    if (budget == BIDE_FOREVER)
        bide__json_null(j, "budget_left");
    else
        bide__json_integer(j, "budget_left", budget);
    bide_dep_budget_view(r->dep, r->now_ns, &spent);
    bide__json_number(j, "budget_spent", spent.spent);
    bide__json_number(j, "budget_all", spent.all);
    bide__json_number(j, "rate", bide_dep_rate(r->dep, r->now_ns));
    bide__json_integer(j, "in_flight", (int64_t)r->in_flight);
    bide__json_integer(j, "calls", (int64_t)r->open);
    bide__json_end(j);
}

void replay_print_json(struct replay_printer *p, const struct replay *r,
                       const struct replay_row *row, const char *name)
{
    struct bide__json j;
    bide__json_init(&j, p->out, false);
    bide__json_object(&j, NULL);
    bide__json_number(&j, "t_ms", ms(row->now_ns));
    if (name)
        bide__json_text(&j, "call", name);
    json_event(&j, row);
    json_decision(&j, row);
    json_state(&j, r);
    bide__json_end(&j);
    bide__json_done(&j);
}
