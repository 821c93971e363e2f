/* Claims in requests over libcurl.
 *
 * Whether a call claims the retries depends on its method, which is known only
 * when there is a connection, and whom it may be told depends on the address. So
 * the list of header fields that libcurl is given has a node for each field of
 * the claim; it says "Name:", for which libcurl sends nothing, until the moment
 * before the request.
 *
 * An application that is instrumented by OpenTelemetry passes the baggage of the
 * request that it serves on in its own: a claim in there is that of a layer
 * above. */
#include "curl/claim.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bide/claim.h"
#include "bide/run.h"

enum { ATTEMPT, TIMEOUT, KEY, BAGGAGE }; /* the nodes; KEY is not ours */

#define FIELD "baggage: "

/* ===== what the application passes on ===== */

static bide_header field_of(const struct curl_slist *node)
{
    const char *line = node->data;
    size_t len = strcspn(line, ":;");
    const char *value = line[len] ? line + len + 1 : line + len;
    return (bide_header){ line, len, value, strlen(value) };
}

static bool is_field(const bide_header *h, const char *name)
{
    return h->name_len == strlen(name) &&
           strncasecmp(h->name, name, h->name_len) == 0;
}

static bool is_claim(const bide_header *h)
{
    return is_field(h, "baggage") || is_field(h, "x-bide-attempt") ||
           is_field(h, "x-bide-timeout-ms");
}

/* The rest of the application's baggage, as one value. */
static bool keep_baggage(struct bide__curl_call *c)
{
    size_t n = 0, most = 0;
    for (struct curl_slist *l = c->handle.headers; l; l = l->next)
        most++;
    bide_header *theirs = malloc(most * sizeof *theirs);
    if (!theirs)
        return false;
    for (struct curl_slist *l = c->handle.headers; l; l = l->next) {
        bide_header h = field_of(l);
        if (is_field(&h, "baggage"))
            theirs[n++] = h;
    }
    size_t len = bide_baggage_write(NULL, 0, theirs, n, NULL, 0);
    c->baggage = len ? malloc(len) : NULL;
    c->baggage_len = c->baggage ? len : 0;
    if (c->baggage)
        bide_baggage_write(c->baggage, len, theirs, n, NULL, 0);
    free(theirs);
    return len == 0 || c->baggage;
}

/* Nodes of our own with the same texts, which the application may still
 * change. */
static bool copy_rest(struct bide__curl_call *c)
{
    size_t n = 0;
    for (struct curl_slist *l = c->handle.headers; l; l = l->next)
        n++;
    struct curl_slist *nodes = malloc(n * sizeof *nodes), *next = NULL;
    if (!nodes)
        return false;
    struct curl_slist **end = &next;
    n = 0;
    for (struct curl_slist *l = c->handle.headers; l; l = l->next) {
        bide_header h = field_of(l);
        if (is_claim(&h))
            continue;
        nodes[n] = (struct curl_slist){ l->data, NULL };
        *end = &nodes[n];
        end = &nodes[n++].next;
    }
    c->headers = next;
    c->header_nodes = nodes;
    return true;
}

void bide__curl_claim_begin(struct bide__curl_call *c, int64_t now)
{
    bide_claim above = BIDE_CLAIM_INIT;
    bool any = false;

    c->headers = c->handle.headers;
    for (const struct curl_slist *l = c->headers; l; l = l->next) {
        bide_header h = field_of(l);
        any = any || is_claim(&h);
        bide_claim_header(&above, &h, &c->policy->trust,
                          is_field(&h, "baggage") ? bide_wall_ms() : 0);
    }
    bide_claim_apply(&above, &c->op, now);
    /* Without memory for it, the fields go out as they are. */
    if (any && !(keep_baggage(c) && copy_rest(c)))
        bide__curl_claim_end(c);
}

void bide__curl_claim_end(struct bide__curl_call *c)
{
    free(c->header_nodes);
    free(c->baggage);
    c->header_nodes = NULL;
    c->baggage = NULL;
    c->baggage_len = 0;
    c->headers = c->handle.headers;
}

/* ===== whom to tell ===== */

static bool is_private_v4(uint32_t a)
{
    return a >> 24 == 127 || a >> 24 == 10 ||
           a >> 20 == 0xac1 ||                       /* 172.16/12 */
           a >> 16 == 0xc0a8 || a >> 16 == 0xa9fe || /* 192.168, 169.254 */
           a >> 22 == 0x191;                         /* 100.64/10 */
}

/* Loopback, private, link-local; or no address at all, as of a Unix socket. */
static bool is_private(const char *ip)
{
    struct in_addr four;
    struct in6_addr six;
    char text[INET6_ADDRSTRLEN];

    if (!ip || !*ip)
        return true;
    if (inet_pton(AF_INET, ip, &four) == 1)
        return is_private_v4(ntohl(four.s_addr));
    size_t len = strcspn(ip, "%"); /* a zone may follow */
    if (len >= sizeof text)
        return false;
    memcpy(text, ip, len);
    text[len] = '\0';
    if (inet_pton(AF_INET6, text, &six) != 1)
        return false;
    if (IN6_IS_ADDR_V4MAPPED(&six)) {
        memcpy(&four, six.s6_addr + 12, sizeof four);
        return is_private_v4(ntohl(four.s_addr));
    }
    return IN6_IS_ADDR_LOOPBACK(&six) || IN6_IS_ADDR_LINKLOCAL(&six) ||
           (six.s6_addr[0] & 0xfe) == 0xfc;
}

bool bide__claim_told(const struct bide__curl_call *c, const char *ip)
{
    switch (c->opts->tell) {
    case BIDE_CURL_TELL_ALL:
        return true;
    case BIDE_CURL_TELL_PRIVATE:
        return is_private(ip);
    default:
        return false;
    }
}

/* ===== what is sent ===== */

static char no_attempt[] = "X-Bide-Attempt:";
static char no_timeout[] = "X-Bide-Timeout-Ms:";
static char no_baggage[] = "baggage:";

struct curl_slist *bide__claim_nodes(struct bide__transfer *t,
                                     struct curl_slist *rest)
{
    t->headers[BAGGAGE] = (struct curl_slist){ no_baggage, rest };
    t->headers[TIMEOUT] =
        (struct curl_slist){ no_timeout, &t->headers[BAGGAGE] };
    t->headers[ATTEMPT] =
        (struct curl_slist){ no_attempt, &t->headers[TIMEOUT] };
    return &t->headers[ATTEMPT];
}

/* Text, then a number. Without printf: this is done for every request, and
 * printf would be a large part of bide's cost. */
static char *put(char *to, const char *text, size_t len, uint64_t number)
{
    char digits[20];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + number % 10);
    } while ((number /= 10) != 0);
    memcpy(to, text, len);
    to += len;
    while (n > 0)
        *to++ = digits[--n];
    *to = '\0';
    return to;
}

#define PUT(to, text, number) put(to, text, sizeof text - 1, number)

static char *attempt_text(struct bide__transfer *t, const bide_claim *claim)
{
    if (!claim->attempt)
        return no_attempt;
    char *end = PUT(t->attempt_text, "X-Bide-Attempt: ", claim->attempt);
    if (claim->max)
        PUT(end, "; max=", claim->max);
    return t->attempt_text;
}

static char *timeout_text(struct bide__transfer *t, const bide_claim *claim)
{
    if (claim->left_ns == BIDE_FOREVER)
        return no_timeout;
    int64_t ms = bide_claim_left_ms(claim);
    PUT(t->timeout_text, "X-Bide-Timeout-Ms: ", (uint64_t)(ms > 0 ? ms : 1));
    return t->timeout_text;
}

/* NULL: no memory. */
static char *baggage_text(struct bide__transfer *t, const bide_claim *claim)
{
    const struct bide__curl_call *c = t->call;
    const size_t before = sizeof FIELD - 1;
    bide_header theirs = { .value = c->baggage, .value_len = c->baggage_len };
    size_t room = sizeof t->baggage_text - before - 1;
    char *to = t->baggage_text;

    if (c->baggage) {
        room = c->baggage_len + 1 + BIDE_BAGGAGE_OWN;
        to = realloc(t->baggage, before + room + 1);
        if (!to)
            return NULL;
        t->baggage = to;
    }
    int64_t wall_ms =
        claim && claim->left_ns != BIDE_FOREVER ? bide_wall_ms() : 0;
    size_t len =
        bide_baggage_write(to + before, room, &theirs, 1, claim, wall_ms);
    if (len == 0 || len > room)
        return no_baggage;
    memcpy(to, FIELD, before);
    to[before + len] = '\0';
    return to;
}

/* The engine's clock need not be read if no deadline is set. */
static bide_claim claim_of(const struct bide__transfer *t)
{
    const struct bide__curl_call *c = t->call;
    bool any = c->op.deadline_ns > 0 || c->policy->deadline_ns != BIDE_FOREVER;
    return bide_call_claim(&c->call, &c->op, t->attempt,
                           any ? bide_now_ns() : 0);
}

bool bide__claim_write(struct bide__transfer *t, const char *ip)
{
    bool told = bide__claim_told(t->call, ip);
    bide_claim claim = BIDE_CLAIM_INIT;
    if (told)
        claim = claim_of(t);
    char *baggage = baggage_text(t, told ? &claim : NULL);
    if (!baggage)
        return false;
    t->headers[ATTEMPT].data = attempt_text(t, &claim);
    t->headers[TIMEOUT].data = timeout_text(t, &claim);
    t->headers[BAGGAGE].data = baggage;
    return true;
}

void bide__claim_free(struct bide__transfer *t)
{
    free(t->baggage);
    t->baggage = NULL;
}
