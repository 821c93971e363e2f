/* classify.c: classifies a server's response, or the lack of one.
 *
 * Three steps: the table of defaults; the policy's rules, the first of which
 * that matches overrides the table; and, for failures only, what the server
 * says about retrying.
 *
 * When a transfer breaks off after its status line, one of the two must decide.
 * A status that says failure does: the server has spoken. Below 400 the fault
 * does: half a response is no success. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/ascii.h"
#include "lib/response/hint.h"
#include "lib/response/outcome.h"
#include "lib/response/rule.h"

static bool status_decides(const bide_response *r)
{
    if (r->fault == BIDE_FAULT_NONE)
        return true;
    return r->status >= 400 && !r->is_grpc && r->fault != BIDE_FAULT_CANCELLED;
}

static bide_class status_class(int status)
{
    if ((status >= 200 && status < 400) || status == 101)
        return BIDE_SUCCESS;
    if (status >= 520 && status <= 529) /* of CDNs: their origin has failed */
        return BIDE_TRANSIENT;
    switch (status) {
    case 408:
    case 425:
    case 500:
    case 502:
    case 503:
    case 504:
    case 507:
    case 508:
    case 599:
        return BIDE_TRANSIENT;
    case 429:
        return BIDE_THROTTLED;
    default:
        return BIDE_PERMANENT;
    }
}

static bide_class grpc_class(int code)
{
    switch (code) {
    case BIDE_GRPC_OK:
        return BIDE_SUCCESS;
    case BIDE_GRPC_UNAVAILABLE:
        return BIDE_TRANSIENT;
    case BIDE_GRPC_RESOURCE_EXHAUSTED:
        return BIDE_THROTTLED;
    case BIDE_GRPC_CANCELLED:
        return BIDE_IGNORED;
    default:
        return BIDE_PERMANENT;
    }
}

static bide_class default_class(const struct bide__answer *a)
{
    if (!a->status_decides)
        return bide__fault_class(a->fault);
    return a->r->is_grpc ? grpc_class(a->r->grpc_status)
                         : status_class(a->r->status);
}

/* A status line proves that the server read the request, so nothing else can
 * prove that it did not. */
static bool proves_unprocessed(const struct bide__answer *a)
{
    return a->r->status == 0 &&
           (a->r->not_sent || bide__fault_unsent(a->fault));
}

static void apply_rules(bide_outcome *out, const bide_rule *rules, size_t n,
                        struct bide__answer *a)
{
    for (size_t i = 0; i < n; i++) {
        if (!bide__rule_matches(&rules[i], a))
            continue;
        out->cls = rules[i].cls;
        out->not_processed = out->not_processed || rules[i].not_processed;
        return;
    }
}

/* Uses the server's own clock if the caller has none: what matters is the
 * difference between its two dates. */
static int64_t wall_of(const bide_response *r)
{
    int64_t date_s;

    if (r->wall_s > 0 || !r->headers)
        return r->wall_s;
    for (size_t i = 0; i < r->n_headers; i++) {
        const bide_header *h = &r->headers[i];
        struct bide__text value = bide__trim(h->value, h->value_len);

        if (bide__is_field(h, "date") &&
            bide_http_date(value.at, value.len, 0, &date_s) == 0)
            return date_s;
    }
    return 0;
}

static bide_hint read_hints(struct bide__answer *a)
{
    const bide_response *r = a->r;
    const bide_problem *problem = bide__answer_problem(a);
    bide_hint hint = BIDE_HINT_INIT;
    int64_t wall_s = wall_of(r);

    for (size_t i = 0; r->headers && i < r->n_headers; i++)
        bide_hint_header(&hint, &r->headers[i], wall_s);
    if (problem && problem->not_retryable)
        hint.refused = true;
    if (problem && problem->has_retry_after)
        bide__hint_offer(&hint, BIDE_HINT_PROBLEM, problem->retry_after_ns);
    return hint;
}

/* Returns whether "do not retry" in this response means overload. */
static bool speaks_of_load(const struct bide__answer *a)
{
    if (!a->status_decides)
        return false;
    if (a->r->is_grpc)
        return a->r->grpc_status == BIDE_GRPC_RESOURCE_EXHAUSTED;
    return a->r->status == 429 || a->r->status == 503;
}

static void refuse(bide_outcome *out, const struct bide__answer *a)
{
    bool may_improve = out->cls == BIDE_TRANSIENT || out->cls == BIDE_THROTTLED;

    out->refused = true;
    if (may_improve && speaks_of_load(a))
        out->cls = BIDE_OVERLOADED;
}

/* Returns whether someone else was faster. Without a policy that retries it, a
 * conflict is permanent: to send the same again would overwrite their change. */
static bool speaks_of_conflict(const struct bide__answer *a)
{
    return a->status_decides && (a->r->is_grpc
                                     ? a->r->grpc_status == BIDE_GRPC_ABORTED
                                     : a->r->status == 409);
}

/* Returns whether a bide in front of the server has the same operation in
 * progress, by its key. This attempt changed nothing, and the next one will get
 * the answer. */
static bool is_in_progress(struct bide__answer *a)
{
    const bide_response *r = a->r;
    const bide_problem *problem;

    if (!a->status_decides || r->is_grpc || r->status != 409)
        return false;
    for (size_t i = 0; r->headers && i < r->n_headers; i++)
        if (bide__is_field(&r->headers[i], "x-bide-reason") &&
            bide__same(bide__trim(r->headers[i].value,
                                  r->headers[i].value_len),
                       bide__text_of("idempotency_in_progress")))
            return true;
    problem = bide__answer_problem(a);
    return problem && strcmp(problem->type, "urn:bide:problem:"
                                            "idempotency_in_progress") == 0;
}

static void apply_hints(bide_outcome *out, struct bide__answer *a)
{
    bide_hint hint = read_hints(a);

    out->refused_below = hint.refused_below;
    if (hint.refused)
        refuse(out, a);
    if (hint.rate_limit_only && out->cls != BIDE_THROTTLED)
        return;
    out->hinted = hint.source != BIDE_HINT_NONE;
    out->hint_ns = hint.wait_ns;
    out->hint_exact = hint.exact;
}

static bide_outcome look_closer(const bide_rule *rules, size_t n_rules,
                                const bide_response *r)
{
    struct bide__answer a = { .r = r, .fault = r->fault };
    bide_outcome out = { .status = r->status };
    bool waits = false;

    if ((size_t)r->fault >= BIDE_N_FAULTS)
        a.fault = BIDE_FAULT_OTHER;
    a.status_decides = status_decides(r);

    out.cls = default_class(&a);
    out.fault = a.fault;
    out.not_processed = proves_unprocessed(&a);
    if (is_in_progress(&a)) {
        out.cls = BIDE_TRANSIENT;
        out.not_processed = waits = true;
    }
    apply_rules(&out, rules, n_rules, &a);
    out.conflict = out.cls == BIDE_TRANSIENT && speaks_of_conflict(&a);
    if (out.cls != BIDE_SUCCESS && out.cls != BIDE_IGNORED)
        apply_hints(&out, &a);
    out.refused_below = out.refused_below || waits; /* it was not asked */
    return out;
}

/* Almost every response is a plain success and should cost nothing: it is
 * recognized before anything is set up to look closer. */
bide_outcome bide__classify(const bide_rule *rules, size_t n_rules,
                            const bide_response *r)
{
    if (!r)
        return (bide_outcome){ .cls = BIDE_PERMANENT,
                               .fault = BIDE_FAULT_OTHER };
    if (n_rules == 0 && r->fault == BIDE_FAULT_NONE && !r->is_grpc &&
        status_class(r->status) == BIDE_SUCCESS)
        return (bide_outcome){ .cls = BIDE_SUCCESS, .status = r->status };
    return look_closer(rules, n_rules, r);
}

/* Envoy refused the request by itself, as a bide below does: the service has
 * seen nothing of it. */
void bide__heed_envoy(bide_outcome *out, const bide_response *r)
{
    struct bide__answer a = { .r = r, .fault = out->fault };

    if (!r || out->cls == BIDE_SUCCESS || out->cls == BIDE_IGNORED)
        return;
    a.status_decides = status_decides(r);
    for (size_t i = 0; r->headers && i < r->n_headers; i++) {
        const bide_header *h = &r->headers[i];
        if (!bide__is_field(h, "x-envoy-overloaded") ||
            !bide__same(bide__trim(h->value, h->value_len),
                        bide__text_of("true")))
            continue;
        refuse(out, &a);
        out->refused_below = true;
    }
}
