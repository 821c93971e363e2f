/* The arguments of `bide explain`; each function returns what it expected if
 * the argument is invalid. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/common/policy_choice.h"
#include "cmd/explain/explain.h"
#include "config/doc/read_file.h"
#include "config/field/rows.h"
#include "config/field/value.h"
#include "net/http2/error.h"

/* ===== values ===== */

static bool read_count(const char *text, uint32_t *ret, uint32_t max)
{
    uint64_t n;

    if (bide__parse_count(text, strlen(text), &n) < 0 || n > max)
        return false;
    *ret = (uint32_t)n;
    return true;
}

static bool set_method(const struct bide__field *f, void *to, const char *text,
                       size_t len)
{
    struct situation *s = to;

    (void)f;
    if (len == 0 || len >= sizeof s->method ||
        strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                     "0123456789!#$%&'*+-.^_`|~") != len)
        return false;
    for (size_t i = 0; i <= len; i++) /* no one means a method "post" */
        s->method[i] = (char)toupper((unsigned char)text[i]);
    return true;
}

/* How a stream of HTTP/2 ended, as the sidecar's logs have it under `stream`. Two of
 * them prove that the server did not begin. */
static bool read_stream_end(const char *text, struct situation *s)
{
#define X(name, value) #name,
    static const char *const ends[] = { HTTP2_CODES(X) "GOAWAY", "CONNECTION",
                                        "unknown", NULL };
#undef X
    int i = 0;

    while (ends[i] && strcasecmp(text, ends[i]) != 0)
        i++;
    s->stream_end = ends[i];
    s->response.fault = i == HTTP2_REFUSED_STREAM ||
                                (ends[i] && strcmp(ends[i], "GOAWAY") == 0)
                            ? BIDE_FAULT_REFUSED_STREAM
                            : BIDE_FAULT_RESET;
    return ends[i];
}

static bool set_error(const struct bide__field *f, void *to, const char *text,
                      size_t len)
{
    struct situation *s = to;

    (void)f;
    (void)len;
    s->stream_end = NULL;
    if (bide_fault_by_name(text, &s->response.fault) == 0)
        return s->response.fault != BIDE_FAULT_NONE;
    return read_stream_end(text, s);
}

static bool set_grpc(const struct bide__field *f, void *to, const char *text,
                     size_t len)
{
    struct situation *s = to;
    char name[32];
    uint32_t code;
    size_t i = 0;

    (void)f;
    (void)len;
    for (; text[i] && i < sizeof name - 1; i++)
        name[i] = (char)toupper((unsigned char)text[i]);
    name[i] = '\0';
    s->response.is_grpc = true;
    if (!read_count(text, &code, BIDE_N_GRPC - 1))
        return bide_grpc_by_name(name, &s->response.grpc_status) == 0;
    s->response.grpc_status = (int)code;
    return true;
}

static bool set_key(const struct bide__field *f, void *to, const char *text,
                    size_t len)
{
    (void)f;
    (void)text;
    ((struct situation *)to)->op.has_key = true;
    return len > 0;
}

static bool set_now(const struct bide__field *f, void *to, const char *text,
                    size_t len)
{
    (void)f;
    return bide_http_date(text, len, time(NULL),
                          &((struct situation *)to)->response.wall_s) == 0;
}

/* ===== a header, a body ===== */

/* What else a field says: of the request that it has a key, of a gRPC call how it
 * ended. */
static bool take_meaning(struct situation *s, const bide_header *h)
{
    if (strcasecmp(h->name, "idempotency-key") == 0) {
        s->op.has_key = true;
        return true;
    }
    if (strcasecmp(h->name, "grpc-status") != 0)
        return false;
    s->answered = true;
    if (!set_grpc(NULL, s, h->value, h->value_len))
        s->response.grpc_status = BIDE_GRPC_UNKNOWN; /* as clients take it */
    return true;
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
    ((char *)text)[len] = '\0'; /* argv is writable */
    bide_header h = { text, len, value, strlen(value) };
    if (!take_meaning(s, &h)) { /* claims are read by ask.c */
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

/* ===== the table ===== */

static const char *const sent[] = { "yes", "no", NULL };
static const char *const breaker[] = { "closed", "open", NULL };

#define S struct situation
static const struct bide__field fields[] = {
    { "method", AT(method),
      TAKES_AS(BIDE__OTHER, "a method, such as GET or POST"),
      .set = set_method },
    { "status", AT(response.status),
      TAKES(COUNT, 100, 999, "an HTTP status, 100 to 999") },
    { "error", AT(response.fault),
      TAKES_AS(BIDE__OTHER,
               "dns, no_host, connect, reset, timeout, tls, url, malformed, "
               "local, cancelled, upload, connection_wait, too_long, "
               "refused_stream or other; or how a stream of HTTP/2 ended, such "
               "as GOAWAY or CANCEL"),
      .set = set_error },
    { "sent", AT(response.not_sent), TAKES_EITHER(sent, "yes or no") },
    { "grpc", AT(response.grpc_status),
      TAKES_AS(BIDE__OTHER, "a gRPC code, such as UNAVAILABLE or 14"),
      .set = set_grpc },
    { "attempt", AT(attempt),
      TAKES(COUNT, 1, 2147483648, "a number from 1 to 2147483648") },
    { "elapsed", AT(elapsed_ns),
      TAKES(DURATION, 0, MAX_NS, "a duration, such as 250ms or 1.5s") },
    { "idempotency-key", AT(op.has_key),
      TAKES_AS(BIDE__OTHER, "a key that is not empty"), .set = set_key },
    { "one-shot-body", AT(op.one_shot_body), TAKES_FLAG },
    { "upstream-attempt", AT(op.upstream_attempt),
      TAKES(COUNT, 0, UINT32_MAX, "a number, 0 for none") },
    { "now", AT(response.wall_s),
      TAKES_AS(BIDE__OTHER,
               "an HTTP-date, such as 'Sun, 06 Nov 1994 08:49:37 GMT'"),
      .set = set_now },
    { "breaker", AT(breaker_open), TAKES_EITHER(breaker, "open or closed") },
    { "budget-spent", AT(budget_spent), TAKES_FLAG },
    { "json", AT(json), TAKES_FLAG },
    LAST
};
#undef S
static const struct bide__table table = { .fields = fields };

const char *explain_take(void *ctx, const char *name, const char *argument)
{
    struct situation *s = ctx;
    const char *expected = NULL;
    int taken;

    if (strcmp(name, "header") == 0)
        return take_header(s, argument);
    if (strcmp(name, "body") == 0)
        return take_body(s, argument);
    s->answered = s->answered || strcmp(name, "status") == 0 ||
                  strcmp(name, "error") == 0 || strcmp(name, "grpc") == 0;
    taken = field_flag(&table, s, name, argument, &expected);
    if (taken == 0)
        taken = policy_flag(&s->policy, name, argument, &expected);
    return taken < 0 ? expected : NULL;
}
