/* Prints the answer of `bide explain`: text for people, JSON for programs. */
#include "cmd/explain/show.h"

#include <string.h>

#include "base/json.h"
#include "base/people.h"
#include "cmd/common/output.h"
#include "cmd/explain/explain.h"

/* ===== for people ===== */

struct page {
    struct paint paint;
    int width;
};

/* Columns where facts begin: beside the rule and what it said, or below them if
 * there is no room. A word, not a tick: "✓ permanent" would read as "it is
 * permanent". */
enum { RULE_WIDTH = 18, FACT_COLUMN = 28, FACT_UNDER = 4, ROOMY = 66 };

static void print_rule(void *ctx, const char *rule, bool applies,
                       const char *fact)
{
    const struct page *p = ctx;
    bool roomy = p->width >= ROOMY;
    int column = roomy ? FACT_COLUMN : FACT_UNDER;

    printf("  %s%-*s%s%s%s%s%s", applies ? p->paint.bold : "", RULE_WIDTH, rule,
           p->paint.plain, applies ? p->paint.red : p->paint.green,
           applies ? "stops" : "passed", p->paint.plain,
           !roomy    ? ""
           : applies ? "   "
                     : "  ");
    if (!roomy)
        printf("\n%*s", column, "");
    bide__print_wrapped(stdout, fact, column, column, p->width);
}

/* "POST, attempt 2 of 4, 1.5s after the call began: status 503,
 *  Retry-After: 120" */
static void print_situation(const struct situation *s, const struct answer *a,
                            const struct page *p)
{
    const bide_response *r = &s->response;
    char line[2048], when[32];
    size_t len = 0;

#define ADD(...)                                                               \
    len += (size_t)snprintf(                                                   \
        line + len, len < sizeof line ? sizeof line - len : 0, __VA_ARGS__)
    ADD("%s, attempt %u of %u", s->method, s->attempt, a->attempts);
    if (s->elapsed_ns > 0)
        ADD(", %s after the call began",
            bide__brief_duration(s->elapsed_ns, when, sizeof when));
    if (s->answered)
        ADD(":");
    if (r->status)
        ADD(" status %d", r->status);
    if (r->is_grpc)
        ADD("%s gRPC %s", r->status ? "," : "", bide_grpc_name(r->grpc_status));
    if (r->fault != BIDE_FAULT_NONE)
        ADD("%s error %s%s", r->status || r->is_grpc ? "," : "",
            bide_fault_name(r->fault), r->not_sent ? ", not sent" : "");
    if (s->stream_end)
        ADD(" (%s)", s->stream_end);
    for (size_t i = 0; i < r->n_headers && len < 1500; i++)
        ADD(", %.60s: %.100s", r->headers[i].name, r->headers[i].value);
#undef ADD
    bide__print_wrapped(stdout, line, 0, 2, p->width);
}

/* The name of the backoff that applied, or NULL if it is that of any failure. */
static const char *own_backoff(const struct situation *s,
                               const struct answer *a)
{
#define X(name, key, when) key,
    static const char *const names[] = { BIDE_BACKOFFS(X) };
#undef X
    static const bide_backoff_part same = BIDE_BACKOFF_PART_INIT;
    const bide_policy_conf *conf = &s->policy.conf;
    const bide_backoff_part *const parts[] = { &same, &conf->backoff_throttled,
                                               &conf->backoff_conflict,
                                               &conf->backoff_timeout };
    const bide_backoff_part *part = parts[a->verdict.after];
    bool own = part->base_ns != BIDE_SAME || part->factor >= 0 ||
               part->cap_ns != BIDE_SAME || part->delays.n != 0;

    return own ? names[a->verdict.after] : NULL;
}

/* "between 0 and 2s, full jitter; backoff_throttled" */
static void name_range(const struct situation *s, const struct answer *a,
                       char *text, size_t size)
{
    const bide_policy_conf *conf = &s->policy.conf;
    const bide_verdict *v = &a->verdict;
    char min[32], max[32], previous[32], hint[32];

    bide__brief_duration(v->wait_min_ns, min, sizeof min);
    bide__brief_duration(v->wait_max_ns, max, sizeof max);
    bide__brief_duration(a->previous_ns, previous, sizeof previous);
    bide__brief_duration(a->outcome.hint_ns, hint, sizeof hint);
    if (a->reason == BIDE_BECAUSE_HINT && a->outcome.hint_exact)
        snprintf(text, size, "the server said so, to the millisecond");
    else if (a->reason == BIDE_BECAUSE_HINT)
        snprintf(text, size,
                 "between %s and %s: the server said %s, and up to "
                 "%g%% is added",
                 min, max, hint, conf->retry_after.jitter * 100);
    else if (v->wait_min_ns == v->wait_max_ns)
        snprintf(text, size, "%s jitter", jitter_word(&conf->backoff));
    else if (conf->backoff.jitter == BIDE_JITTER_DECORRELATED && a->previous_ns)
        snprintf(text, size,
                 "between %s and %s, decorrelated jitter after a "
                 "wait of %s",
                 min, max, previous);
    else
        snprintf(text, size, "between %s and %s, %s jitter", min, max,
                 jitter_word(&conf->backoff));
}

static void name_verdict(const struct situation *s, const struct answer *a,
                         char *text, size_t size)
{
    char wait[32], range[160];

    bide__brief_duration(a->judged ? a->verdict.wait_ns : a->timeout_ns, wait,
                         sizeof wait);
    if (a->reason == BIDE_BECAUSE_SUCCESS)
        snprintf(text, size, "Stop: it worked, there is nothing to retry.");
    else if (explain_stops(a))
        snprintf(text, size, "Stop: %s (%s).", bide_reason_text(a->reason),
                 bide_reason_name(a->reason));
    else if (!a->judged)
        snprintf(text, size, "Try: attempt %u may go out now and take %s%s.",
                 s->attempt, a->timeout_ns == BIDE_FOREVER ? "" : "up to ",
                 a->timeout_ns == BIDE_FOREVER ? "its time" : wait);
    else if (a->reason == BIDE_BECAUSE_HEDGE)
        snprintf(text, size,
                 "Retry at once: the policy hedges, and this "
                 "attempt has failed.");
    else if (a->reason == BIDE_BECAUSE_IMMEDIATE)
        snprintf(text, size,
                 "Retry at once: it is the first retry after a "
                 "failure to connect (immediate_first).");
    else if (a->reason == BIDE_BECAUSE_NOT_PROCESSED)
        snprintf(text, size,
                 "Retry at once: the server did not begin with it. The first "
                 "time in a call this costs neither an attempt nor budget.");
    else if (a->reason == BIDE_BECAUSE_KNOCKING)
        snprintf(text, size,
                 "Try again in %s: nobody was reached, so this costs neither an "
                 "attempt nor budget.",
                 wait);
    else {
        const char *own = a->reason == BIDE_BECAUSE_BACKOFF ? own_backoff(s, a)
                                                            : NULL;
        name_range(s, a, range, sizeof range);
        snprintf(text, size, "Retry in %s (%s%s%s).", wait, range,
                 own ? "; by " : "", own ? own : "");
    }
}

void explain_print(const struct situation *s, const struct answer *a)
{
    struct page p = { paint_for(stdout), terminal_width(stdout) };
    bool stop = explain_stops(a);
    char verdict[320];

    if (p.width > 100)
        p.width = 100;
    print_situation(s, a, &p);
    if (a->judged || (stop && a->reason != BIDE_BECAUSE_SUCCESS))
        putchar('\n');
    explain_rules(s, a, print_rule, &p);
    name_verdict(s, a, verdict, sizeof verdict);
    printf("\n%s%s", p.paint.bold, stop ? p.paint.red : p.paint.green);
    if (a->reason == BIDE_BECAUSE_SUCCESS)
        fputs(p.paint.green, stdout);
    bide__print_wrapped(stdout, verdict, 0, 0, p.width);
    fputs(p.paint.plain, stdout);
}

/* ===== for programs ===== */

static double ms(int64_t ns)
{
    return (double)ns / 1e6;
}

static void put_rule(void *ctx, const char *rule, bool applies,
                     const char *fact)
{
    struct bide__json *j = ctx;

    bide__json_object(j, NULL);
    bide__json_text(j, "rule", rule);
    bide__json_flag(j, "applies", applies);
    bide__json_text(j, "detail", fact);
    bide__json_end(j);
}

static void put_wait(struct bide__json *j, const struct answer *a)
{
    static const char *const keys[] = { "wait_ms", "wait_min_ms",
                                        "wait_max_ms" };
    const bide_verdict *v = &a->verdict; /* all 0 before the first outcome */
    int64_t waits[] = { v->wait_ns, v->wait_min_ns, v->wait_max_ns };

    for (int i = 0; i < 3; i++) {
        if (explain_stops(a))
            bide__json_null(j, keys[i]);
        else
            bide__json_number(j, keys[i], ms(waits[i]));
    }
}

void explain_json(const struct situation *s, const struct answer *a)
{
    struct bide__json j;
    char verdict[320];

    name_verdict(s, a, verdict, sizeof verdict);
    bide__json_init(&j, stdout, true);
    bide__json_object(&j, NULL);
    bide__json_text(&j, "decision", a->decision);
    bide__json_text(&j, "reason", bide_reason_name(a->reason));
    if (s->answered)
        bide__json_text(&j, "class", bide_class_name(a->outcome.cls));
    else
        bide__json_null(&j, "class");
    if (a->outcome.hinted) {
        bide__json_number(&j, "hint_ms", ms(a->outcome.hint_ns));
        bide__json_text(&j, "hint_source", bide_hint_name(a->hint_source));
    } else {
        bide__json_null(&j, "hint_ms");
        bide__json_null(&j, "hint_source");
    }
    put_wait(&j, a);
    if (a->judged && !explain_stops(a) && a->reason == BIDE_BECAUSE_BACKOFF)
        bide__json_text(&j, "backoff",
                        own_backoff(s, a) ? own_backoff(s, a) : "backoff");
    else
        bide__json_null(&j, "backoff");
    bide__json_integer(&j, "attempt", s->attempt);
    bide__json_integer(&j, "attempts", a->attempts);
    if (s->policy.seed <= INT64_MAX)
        bide__json_integer(&j, "seed", (int64_t)s->policy.seed);
    else
        bide__json_number(&j, "seed", (double)s->policy.seed);
    bide__json_text(&j, "text", verdict);
    bide__json_list(&j, "rules");
    explain_rules(s, a, put_rule, &j);
    bide__json_end(&j);
    bide__json_end(&j);
    bide__json_done(&j);
}
