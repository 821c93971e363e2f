/* Cache-Control, Expires, Age, Date, Vary: whether a response may be stored. */
#include "proxy/exchange/cacheable.h"

#include <string.h>
#include <strings.h>

#include "bide/bide.h"

#define FIND(head, bytes, name, after)                                         \
    cacheable_field(head, bytes, name, sizeof(name) - 1, after)

const struct http1_field *cacheable_field(const struct http1_head *head,
                                          const char *bytes, const char *name,
                                          size_t len,
                                          const struct http1_field *after)
{
    const struct http1_field *f = after ? after + 1 : head->fields;
    for (; f < head->fields + head->n_fields; f++)
        if (f->name_len == len && strncasecmp(bytes + f->line, name, len) == 0)
            return f;
    return NULL;
}

/* ===== lists ===== */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Where this member ends: at a comma that is in no quotes. */
static const char *member_end(const char *at, const char *end)
{
    bool quoted = false;
    for (; at < end && (quoted || *at != ','); at++) {
        if (quoted && *at == '\\' && at + 1 < end)
            at++;
        else if (*at == '"')
            quoted = !quoted;
    }
    return at;
}

bool cacheable_member(const char **at, const char *end, const char **ret,
                      size_t *ret_len)
{
    while (*at < end) {
        const char *from = *at, *to = member_end(from, end);
        *at = to < end ? to + 1 : end;
        while (from < to && is_blank(*from))
            from++;
        while (to > from && is_blank(to[-1]))
            to--;
        *ret = from;
        *ret_len = (size_t)(to - from);
        if (to > from)
            return true;
    }
    return false;
}

/* ===== directives ===== */

/* Seconds as nanoseconds, at most 68 years; nonsense is 0: stale. */
static int64_t seconds(const char *text, size_t len)
{
    int64_t n = 0;
    if (len >= 2 && text[0] == '"' && text[len - 1] == '"') {
        text++;
        len -= 2;
    }
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return 0;
        n = n * 10 + (text[i] - '0');
        if (n > INT32_MAX)
            n = INT32_MAX;
    }
    return n * BIDE_SECOND;
}

static bool is(const char *text, size_t len, const char *name)
{
    return len == strlen(name) && strncasecmp(text, name, len) == 0;
}

struct directives {
    bool forbidden; /* to store it, or to serve it stale */
    bool no_cache, no_store, is_public;
    int64_t max_age_ns, if_error_ns; /* -1: not there */
};

static void read_directive(struct directives *d, const char *text, size_t len)
{
    const char *equals = memchr(text, '=', len);
    size_t name = equals ? (size_t)(equals - text) : len;
    const char *value = equals ? equals + 1 : "";
    size_t value_len = equals ? len - name - 1 : 0;

    if (is(text, name, "no-cache"))
        d->no_cache = d->forbidden = true;
    else if (is(text, name, "no-store"))
        d->no_store = d->forbidden = true;
    else if (is(text, name, "private") || is(text, name, "must-revalidate") ||
             is(text, name, "proxy-revalidate") || is(text, name, "s-maxage"))
        d->forbidden = true; /* s-maxage means proxy-revalidate, too */
    else if (is(text, name, "public"))
        d->is_public = true;
    else if (is(text, name, "max-age"))
        d->max_age_ns = seconds(value, value_len);
    else if (is(text, name, "stale-if-error"))
        d->if_error_ns = seconds(value, value_len);
}

static struct directives read_directives(const struct http1_head *head,
                                         const char *bytes)
{
    struct directives d = { .max_age_ns = -1, .if_error_ns = -1 };
    const struct http1_field *f = NULL;
    const char *text;
    size_t len;
    while (http1_has(head, HTTP1_ID_CACHE_CONTROL) &&
           (f = FIND(head, bytes, "cache-control", f))) {
        const char *at = bytes + f->value;
        while (
            cacheable_member(&at, bytes + f->value + f->value_len, &text, &len))
            read_directive(&d, text, len);
    }
    return d;
}

/* ===== answers ===== */

/* A date as nanoseconds since 1970; -1: none is there, or it is none. */
static int64_t read_date(const struct http1_head *head, const char *bytes,
                         const struct http1_field *f, int64_t wall_s)
{
    int64_t at_s;
    (void)head;
    if (!f ||
        bide_http_date(bytes + f->value, f->value_len, wall_s, &at_s) < 0 ||
        at_s < 0 || at_s > INT64_MAX / BIDE_SECOND)
        return -1;
    return at_s * BIDE_SECOND;
}

static void read_ages(struct cacheable *c, const struct directives *d,
                      const struct http1_head *resp, const char *bytes,
                      int64_t wall_s)
{
    const struct http1_field *age = FIND(resp, bytes, "age", NULL);
    const struct http1_field *expires = FIND(resp, bytes, "expires", NULL);
    int64_t now = wall_s * BIDE_SECOND;
    int64_t date =
        read_date(resp, bytes, FIND(resp, bytes, "date", NULL), wall_s);
    int64_t until = read_date(resp, bytes, expires, wall_s);

    if (date < 0)
        date = now;
    c->age_ns = now > date ? now - date : 0;
    if (age && seconds(bytes + age->value, age->value_len) > c->age_ns)
        c->age_ns = seconds(bytes + age->value, age->value_len);
    if (d->max_age_ns >= 0)
        c->fresh_ns = d->max_age_ns;
    else if (until > date)
        c->fresh_ns = until - date;
}

struct cacheable cacheable_read(const struct http1_head *resp,
                                const char *bytes, int64_t wall_s)
{
    struct directives d = read_directives(resp, bytes);
    struct cacheable c = { .is_public = d.is_public,
                           .if_error_ns = d.if_error_ns < 0 ? BIDE_FOREVER
                                                            : d.if_error_ns };
    c.may_keep = !d.forbidden && !http1_has(resp, HTTP1_ID_SET_COOKIE) &&
                 !FIND(resp, bytes, "x-bide-fallback", NULL);
    if (c.may_keep)
        read_ages(&c, &d, resp, bytes, wall_s);
    return c;
}

/* ===== requests ===== */

bool cacheable_for(const struct cacheable *c, const struct http1_head *req,
                   const char *bytes, bool certified)
{
    bool personal = certified || http1_has(req, HTTP1_ID_AUTHORIZATION) ||
                    http1_has(req, HTTP1_ID_COOKIE);
    return c->may_keep && req->method_id == HTTP1_GET &&
           req->framing == HTTP1_NO_BODY && (c->is_public || !personal) &&
           !read_directives(req, bytes).no_store;
}

bool cacheable_asks(const struct http1_head *req, const char *bytes)
{
    return (req->method_id == HTTP1_GET || req->method_id == HTTP1_HEAD) &&
           req->framing == HTTP1_NO_BODY &&
           !read_directives(req, bytes).no_cache;
}
