/* What came of it, a row for each decision, as a table for people; machines
 * have print_json.c. Or a row for each call. */
#include "replay/print.h"

#include <math.h>

#include "base/json.h"
#include "base/people.h"
#include "replay/replay.h"

const char *replay_cause_name(enum replay_cause cause)
{
    static const char *const names[] = {
#define X(name, key) key,
        REPLAY_CAUSES(X)
#undef X
    };
    return names[cause];
}

const char *replay_mode_name(bide_breaker_mode mode)
{
    static const char *const names[] = {
#define X(name, key) key,
        BIDE_BREAKER_MODES(X)
#undef X
    };
    return names[mode];
}

static double ms(int64_t ns)
{
    return (double)ns / 1e6;
}

/* ===== text ===== */

enum { EVENT_WIDTH = 24, DECISION_WIDTH = 14 };

static void describe_event(const struct replay_row *row, char *to, size_t size)
{
    char text[32];
    const bide_outcome *out = row->outcome;
    if (row->cause == REPLAY_BREAKER) {
        snprintf(to, size, "breaker %s", bide_breaker_state_name(row->to));
    } else if (row->cause == REPLAY_FORCED) {
        snprintf(to, size, "breaker %s", replay_mode_name(row->mode));
    } else if (row->cause == REPLAY_UNUSED) {
        snprintf(to, size, row->of ? "%lu: not running" : "not running",
                 (unsigned long)row->of);
    } else if (row->cause == REPLAY_STARTED) {
        snprintf(to, size, "%s", "");
    } else if (out) {
        snprintf(text, sizeof text, "%d", out->status);
        snprintf(to, size, "%lu: %s %s", (unsigned long)row->of,
                 row->raw->is_grpc ? bide_grpc_name(row->raw->grpc)
                 : out->fault      ? bide_fault_name(out->fault)
                                   : text,
                 bide_class_name(out->cls));
    } else {
        snprintf(to, size, "%s", replay_cause_name(row->cause));
    }
}

static void describe_decision(const struct replay_row *row, char *to,
                              size_t size)
{
    const bide_decision *d = &row->decision;
    char brief[32];
    if (!row->decided && row->until_ns) {
        snprintf(to, size, "for %s",
                 bide__brief_duration(row->until_ns - row->now_ns, brief,
                                      sizeof brief));
    } else if (!row->decided) {
        snprintf(to, size, "-");
    } else if (d->action == BIDE_TRY) {
        snprintf(to, size, "try %lu", (unsigned long)d->attempt);
    } else if (row->unhedged != BIDE_BECAUSE_SUCCESS) {
        snprintf(to, size, "no hedge");
    } else if (d->action == BIDE_WAIT) {
        if (d->at_ns == BIDE_FOREVER)
            snprintf(to, size, "wait");
        else
            snprintf(to, size, "wait %s",
                     bide__brief_duration(d->at_ns - row->now_ns, brief,
                                          sizeof brief));
    } else {
        size_t n = (size_t)snprintf(to, size, "done");
        for (unsigned i = 0; i < row->n_stopped && n < size; i++)
            n += (size_t)snprintf(to + n, size - n, i ? " %lu" : ", stop %lu",
                                  (unsigned long)row->stopped[i]);
    }
}

/* Text from a script must not reach a terminal as it is. */
static void print_name(struct replay_printer *p, const char *name)
{
    int width = 0;
    for (; *name && width < p->name_width; name++) {
        unsigned char c = (unsigned char)*name;
        fputc(c < ' ' || c >= 0x7f ? '?' : c, p->out);
        width++;
    }
    fprintf(p->out, "%*s", p->name_width - width, "");
}

static bool has_tokens(const struct replay *r)
{
    bide_budget_kind kind = bide_dep_policy(r->dep)->budget.kind;
    return kind == BIDE_BUDGET_QUOTA || kind == BIDE_BUDGET_THROTTLE;
}

static void print_tokens(FILE *out, const struct replay *r)
{
    bide_budget_view b;
    char tokens[48];
    if (!has_tokens(r))
        return;
    bide_dep_budget_view(r->dep, r->now_ns, &b);
    snprintf(tokens, sizeof tokens, "%.10g/%.10g", b.all - b.spent, b.all);
    fprintf(out, " %9s", tokens);
}

static void print_state(FILE *out, const struct replay *r)
{
    bide_breaker_view b;
    bide_dep_breaker_view(r->dep, r->now_ns, &b);
    int64_t budget = bide_dep_budget_left(r->dep, r->now_ns);
    double rate = bide_dep_rate(r->dep, r->now_ns);
    char failed[48];

    snprintf(failed, sizeof failed, "%llu/%llu", (unsigned long long)b.failed,
             (unsigned long long)b.attempts);
    fprintf(out, "%-9s %7s", bide_breaker_state_name(b.state), failed);
    if (budget == BIDE_FOREVER)
        fprintf(out, " %7s", "-");
    else
        fprintf(out, " %7lld", (long long)budget);
    print_tokens(out, r);
    if (isinf(rate))
        fprintf(out, " %8s", "-");
    else
        fprintf(out, " %6.2f/s", rate);
    fprintf(out, " %5llu %6llu\n", (unsigned long long)r->in_flight,
            (unsigned long long)r->open);
}

static void print_header(struct replay_printer *p, const struct replay *r)
{
    if (p->calls)
        fprintf(p->out, "%14s  %-*s  %8s  %9s  %s\n", "SECONDS", p->name_width,
                "CALL", "ATTEMPTS", "TOOK", "REASON");
    else
        fprintf(p->out,
                "%14s  %-*s  %-*s %-*s %-15s %-9s %7s %7s%s %8s %5s %6s\n",
                "SECONDS", p->name_width, "CALL", EVENT_WIDTH, "EVENT",
                DECISION_WIDTH, "DECISION", "REASON", "BREAKER", "FAILED",
                "BUDGET", has_tokens(r) ? "    TOKENS" : "", "RATE", "TRIES",
                "CALLS");
}

static void print_text(struct replay_printer *p, const struct replay *r,
                       const struct replay_row *row, const char *name)
{
    char event[64], decision[64];
    describe_event(row, event, sizeof event);
    describe_decision(row, decision, sizeof decision);
    fprintf(p->out, "%14.6f  ", (double)row->now_ns / 1e9);
    print_name(p, name ? name : "");
    bide_reason reason = row->unhedged != BIDE_BECAUSE_SUCCESS
                             ? row->unhedged
                             : row->decision.reason;
    fprintf(p->out, "  %-*s %-*s %-15s ", EVENT_WIDTH, event, DECISION_WIDTH,
            decision, row->decided ? bide_reason_name(reason) : "-");
    print_state(p->out, r);
}

/* ===== a row per call ===== */

static void print_call(struct replay_printer *p, const struct replay_row *row,
                       const char *name)
{
    const bide_call *call = &row->call->call;
    int64_t took = row->now_ns - row->call->begin_ns;
    uint32_t attempts = bide_call_attempts(call) + 1 - row->call->first_attempt;
    const char *reason = bide_reason_name(row->decision.reason);
    char brief[32];

    if (!p->json) {
        fprintf(p->out, "%14.6f  ", (double)row->now_ns / 1e9);
        print_name(p, name);
        fprintf(p->out, "  %8lu  %9s  %s\n", (unsigned long)attempts,
                bide__brief_duration(took, brief, sizeof brief), reason);
        return;
    }
    struct bide__json j;
    bide__json_init(&j, p->out, false);
    bide__json_object(&j, NULL);
    bide__json_number(&j, "t_ms", ms(row->now_ns));
    bide__json_text(&j, "call", name);
    bide__json_text(&j, "decision", "done");
    bide__json_text(&j, "reason", reason);
    bide__json_integer(&j, "attempts", attempts);
    bide__json_number(&j, "took_ms", ms(took));
    bide__json_end(&j);
    bide__json_done(&j);
}

void replay_print_row(struct replay_printer *p, const struct replay *r,
                      const struct replay_row *row, const char *name)
{
    bool done = row->decided && row->decision.action == BIDE_DONE;
    if (p->calls && !done)
        return;
    if (p->rows++ == 0 && !p->json)
        print_header(p, r);
    if (p->calls)
        print_call(p, row, name);
    else if (p->json)
        replay_print_json(p, r, row, name);
    else
        print_text(p, r, row, name);
}
