/* classify.c: a whole response: eight bytes of status, fault and flags, then
 * lines of "name: value", an empty line, and the body.
 *
 * The class is always one of the classes, a hint is never negative, a success
 * is never refused, nothing that a server answered counts as not processed, and
 * a rule that matches nothing changes nothing. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/response/outcome.h"

#define MAX_FIELDS 32
#define FAULT(name) (1u << BIDE_FAULT_##name)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One rule of each kind; which of them apply is drawn from the input. */
static const bide_rule all_rules[] = {
    { .status_min = 409, .status_max = 423, .cls = BIDE_TRANSIENT },
    { .faults = FAULT(RESET) | FAULT(CANCELLED), .cls = BIDE_PERMANENT },
    { .grpc = 1u << BIDE_GRPC_ABORTED, .cls = BIDE_TRANSIENT },
    { .method = "POST", .status_min = 500, .status_max = 599,
      .cls = BIDE_THROTTLED, .not_processed = true },
    { .header = "x-code", .cls = BIDE_OVERLOADED },
    { .header = "Retry-After", .header_value = "1*", .cls = BIDE_TRANSIENT },
    { .problem_type = "urn:busy", .cls = BIDE_THROTTLED },
    { .problem_type = "urn:fine", .cls = BIDE_SUCCESS },
};

#define N_RULES (sizeof all_rules / sizeof all_rules[0])

static void must(int truth)
{
    if (!truth)
        abort();
}

static size_t pick_rules(unsigned set, bide_rule *ret)
{
    size_t n = 0;

    for (size_t i = 0; i < N_RULES; i++)
        if (set >> i & 1)
            ret[n++] = all_rules[i];
    return n;
}

/* Cuts the header fields off the input, and the empty line after them. */
static size_t read_fields(const char **at, const char *end, bide_header *ret)
{
    size_t n = 0;

    while (*at < end) {
        size_t left = (size_t)(end - *at);
        const char *newline = memchr(*at, '\n', left);
        size_t len = newline ? (size_t)(newline - *at) : left;
        const char *colon = memchr(*at, ':', len);
        const char *line = *at;

        *at += len + (newline ? 1 : 0);
        if (len == 0)
            break;
        if (!colon || n == MAX_FIELDS)
            continue;
        ret[n++] = (bide_header){ line, (size_t)(colon - line), colon + 1,
                                  len - (size_t)(colon - line) - 1 };
    }
    return n;
}

static void check_outcome(const bide_outcome *out, const bide_response *r)
{
    bool failure = out->cls != BIDE_SUCCESS && out->cls != BIDE_IGNORED;

    must(bide_class_name(out->cls) != NULL);
    must(bide_fault_name(out->fault) != NULL);
    must(out->status == r->status);
    must(out->hint_ns >= 0);
    must(out->hinted || out->hint_ns == 0);
    must(failure || (!out->refused && !out->hinted));
    if (out->refused && !r->is_grpc && r->fault == BIDE_FAULT_NONE &&
        (r->status == 429 || r->status == 503))
        must(out->cls == BIDE_OVERLOADED || out->cls == BIDE_PERMANENT);
}

static bool same(const bide_outcome *a, const bide_outcome *b)
{
    return a->cls == b->cls && a->fault == b->fault && a->status == b->status &&
           a->not_processed == b->not_processed && a->refused == b->refused &&
           a->hinted == b->hinted && a->hint_ns == b->hint_ns;
}

static void check_defaults(const bide_response *r)
{
    static const bide_rule never = { .method = "NEVER" };
    bide_outcome out = bide__classify(NULL, 0, r);
    bide_outcome again = bide__classify(&never, 1, r);

    check_outcome(&out, r);
    must(same(&out, &again));
    must(r->status == 0 || !out.not_processed);
    must(r->fault != BIDE_FAULT_CANCELLED || out.cls == BIDE_IGNORED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const methods[] = { NULL, "GET", "POST", "" };
    static const int64_t walls[] = { 0, 784111777, 1767225600, INT64_MAX };
    bide_header fields[MAX_FIELDS];
    bide_rule rules[N_RULES];
    bide_response r = { .headers = fields };
    const char *at, *end;
    bide_outcome out;

    if (size < 8)
        return 0;
    at = (const char *)data + 8;
    end = (const char *)data + size;
    r.status = data[0] << 8 | data[1];
    r.fault = (bide_fault)(data[2] % (BIDE_N_FAULTS + 1));
    r.not_sent = data[3] & 1;
    r.is_grpc = data[3] & 2;
    r.grpc_status = (int8_t)data[4];
    r.method = methods[data[5] % 4];
    r.wall_s = walls[data[6] % 4];
    r.n_headers = read_fields(&at, end, fields);
    r.body = at;
    r.body_len = (size_t)(end - at);

    check_defaults(&r);
    out = bide__classify(rules, pick_rules(data[7], rules), &r);
    check_outcome(&out, &r);
    return 0;
}
