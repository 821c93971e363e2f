/* The arguments of `bide explain`: each says what it expected, if it was not
 * that. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "config/doc/tree.h"
#include "cmd/explain/explain.h"

/* ===== values ===== */

static bool read_count(const char *text, uint32_t *ret, uint32_t max)
{
    char *end;
    unsigned long long n;

    errno = 0;
    n = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || n > max)
        return false;
    *ret = (uint32_t)n;
    return true;
}

static const char *take_method(struct situation *s, const char *text)
{
    size_t len = strlen(text);

    if (len == 0 || len >= sizeof s->method ||
        strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                     "0123456789!#$%&'*+-.^_`|~") != len)
        return "a method, such as GET or POST";
    for (size_t i = 0; i <= len; i++) /* nobody means the method "post" */
        s->method[i] = (char)toupper((unsigned char)text[i]);
    return NULL;
}

static const char *take_status(struct situation *s, const char *text)
{
    uint32_t status;

    if (!read_count(text, &status, 999) || status < 100)
        return "an HTTP status, 100 to 999";
    s->response.status = (int)status;
    return NULL;
}

static const char *take_error(struct situation *s, const char *text)
{
    if (bide_fault_by_name(text, &s->response.fault) < 0 ||
        s->response.fault == BIDE_FAULT_NONE)
        return "dns, no_host, connect, reset, timeout, tls, url, malformed, "
               "local, cancelled or other";
    return NULL;
}

static const char *take_sent(struct situation *s, const char *text)
{
    if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
        return "yes or no";
    s->response.not_sent = text[0] == 'n';
    return NULL;
}

static const char *take_grpc(struct situation *s, const char *text)
{
    char name[32];
    uint32_t code;
    size_t i = 0;

    for (; text[i] && i < sizeof name - 1; i++)
        name[i] = (char)toupper((unsigned char)text[i]);
    name[i] = '\0';
    s->response.is_grpc = true;
    if (read_count(text, &code, BIDE_N_GRPC - 1)) {
        s->response.grpc_status = (int)code;
        return NULL;
    }
    return bide_grpc_by_name(name, &s->response.grpc_status) == 0
               ? NULL
               : "a gRPC code, such as UNAVAILABLE or 14";
}

/* Fields that answers do not have and requests do. */
static bool take_request_field(struct situation *s, const bide_header *h)
{
    uint32_t n;

    if (strcasecmp(h->name, "idempotency-key") == 0) {
        s->op.has_key = true;
        return true;
    }
    if (strcasecmp(h->name, "x-bide-attempt") == 0) {
        if (read_count(h->value, &n, UINT32_MAX))
            s->op.upstream_attempt = n;
        return true;
    }
    if (strcasecmp(h->name, "x-bide-timeout-ms") == 0) {
        if (read_count(h->value, &n, UINT32_MAX))
            s->op.deadline_ns = n ? n * BIDE_MILLISECOND : 1;
        return true;
    }
    return false;
}

static const char *take_header(struct situation *s, const char *text)
{
    size_t len = strcspn(text, ":");
    const char *value = text + len + 1;
    size_t n = s->response.n_headers;

    if (len == 0 || text[len] != ':' || strcspn(text, " \t") < len)
        return "a header field, 'Name: value'";
    if (n == MAX_HEADERS)
        return "no more than 100 header fields";
    value += strspn(value, " \t");
    ((char *)text)[len] = '\0'; /* argv is ours to write to */
    bide_header h = { text, len, value, strlen(value) };
    if (!take_request_field(s, &h)) {
        s->headers[n] = h;
        s->response.n_headers = n + 1;
    }
    return NULL;
}

static const char *take_body(struct situation *s, const char *path)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    int rc;

    free(s->body);
    s->body = NULL;
    rc = bide__read_file(path, &s->body, &s->response.body_len, notes);
    if (rc < 0)
        bide_diagnostics_print(notes, stderr, use_colours(stderr));
    bide_diagnostics_free(notes);
    s->response.body = s->body;
    return rc < 0 ? "a file that can be read" : NULL;
}

static const char *take_now(struct situation *s, const char *text)
{
    if (bide_http_date(text, strlen(text), time(NULL), &s->response.wall_s) < 0)
        return "an HTTP-date, such as 'Sun, 06 Nov 1994 08:49:37 GMT'";
    return NULL;
}

/* ===== flags ===== */

static const char *take_attempt(struct situation *s, const char *text)
{
    const uint32_t most = UINT32_C(1) << 31;

    return read_count(text, &s->attempt, most) && s->attempt > 0
               ? NULL
               : "a number from 1 to 2147483648";
}

static const char *take_elapsed(struct situation *s, const char *text)
{
    return bide_parse_duration(text, strlen(text), &s->elapsed_ns) == 0
               ? NULL
               : "a duration, such as 250ms or 1.5s";
}

static const char *take_key(struct situation *s, const char *text)
{
    s->op.has_key = true;
    return *text ? NULL : "a key that is not empty";
}

static const char *take_upstream(struct situation *s, const char *text)
{
    return read_count(text, &s->op.upstream_attempt, UINT32_MAX)
               ? NULL
               : "a number, 0 for none";
}

static const char *take_one_shot(struct situation *s, const char *text)
{
    (void)text;
    s->op.one_shot_body = true;
    return NULL;
}

static const char *take_json(struct situation *s, const char *text)
{
    (void)text;
    s->json = true;
    return NULL;
}

static const struct {
    const char *name;
    const char *(*take)(struct situation *s, const char *text);
    bool answers; /* it tells an outcome */
} takers[] = {
    { "method", take_method, false },
    { "status", take_status, true },
    { "error", take_error, true },
    { "sent", take_sent, false },
    { "grpc", take_grpc, true },
    { "header", take_header, false },
    { "body", take_body, false },
    { "attempt", take_attempt, false },
    { "elapsed", take_elapsed, false },
    { "idempotency-key", take_key, false },
    { "one-shot-body", take_one_shot, false },
    { "upstream-attempt", take_upstream, false },
    { "now", take_now, false },
    { "json", take_json, false },
};

const char *explain_take(void *ctx, const char *name, const char *argument)
{
    struct situation *s = ctx;
    const char *expected = NULL;

    for (size_t i = 0; i < sizeof takers / sizeof takers[0]; i++) {
        if (strcmp(name, takers[i].name) == 0) {
            s->answered = s->answered || takers[i].answers;
            return takers[i].take(s, argument);
        }
    }
    return policy_flag(&s->policy, name, argument, &expected) < 0 ? expected
                                                                  : NULL;
}
