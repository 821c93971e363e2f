/* net/http2/head_pseudo.c: pseudo-headers (RFC 9113, 8.3), and the first line
 * that they become.
 *
 * They may come in any order among themselves, so their values are put aside
 * until the first field, or the end, says that there are no more. */
#include "net/http2/head_pseudo.h"

#include <string.h>

#include "net/http1/first_line.h"
#include "net/http1/scan.h"
#include "net/http1/target.h"

/* clang-format off */
static const struct {
    const char *name;
    uint8_t len, kind;
} pseudos[HTTP2__PSEUDOS] = {
    [HTTP2__P_METHOD] = { ":method", 7, HTTP2__REQUEST_HEAD },
    [HTTP2__P_SCHEME] = { ":scheme", 7, HTTP2__REQUEST_HEAD },
    [HTTP2__P_PATH] = { ":path", 5, HTTP2__REQUEST_HEAD },
    [HTTP2__P_AUTHORITY] = { ":authority", 10, HTTP2__REQUEST_HEAD },
    [HTTP2__P_PROTOCOL] = { ":protocol", 9, HTTP2__REQUEST_HEAD },
    [HTTP2__P_STATUS] = { ":status", 7, HTTP2__RESPONSE_HEAD },
};
/* clang-format on */

void http2__pseudo(struct http2_partial *p, const char *name, size_t name_len,
                   const char *value, size_t value_len)
{
    unsigned i = 0;

    while (i < HTTP2__PSEUDOS &&
           (name_len != pseudos[i].len || p->kind != pseudos[i].kind ||
            memcmp(name, pseudos[i].name, name_len) != 0))
        i++;
    if (i == HTTP2__PSEUDOS)
        p->why = HTTP2_WHY_PSEUDO_NAME;
    else if (p->lined)
        p->why = HTTP2_WHY_PSEUDO_LATE;
    else if (p->seen >> i & 1)
        p->why = HTTP2_WHY_PSEUDO_TWICE;
    else if (p->values_len + value_len > p->max_bytes)
        p->error = HTTP1_EHEAD;
    if (p->why || p->error)
        return;
    p->seen |= (uint8_t)(1u << i);
    p->pseudo[i].at = (uint16_t)p->values_len;
    p->pseudo[i].len = (uint16_t)value_len;
    memcpy(p->values + p->values_len, value, value_len);
    p->values_len += (uint32_t)value_len;
}

/* ===== the first line ===== */

static void add(struct http2_partial *p, const char *bytes, size_t n)
{
    memcpy(p->text + p->len, bytes, n);
    p->len += (uint32_t)n;
}

static bool has(const struct http2_partial *p, enum http2__pseudo which)
{
    return p->seen >> which & 1;
}

static const char *value_of(const struct http2_partial *p,
                            enum http2__pseudo which, size_t *ret_len)
{
    *ret_len = p->pseudo[which].len;
    return p->values + p->pseudo[which].at;
}

static bool is_token(const char *s, size_t len)
{
    return len > 0 && http1__skip(s, 0, len, HTTP1_C_TOKEN) == len;
}

/* ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ) */
static bool is_scheme(const char *s, size_t len)
{
    if (len == 0 || (s[0] | 0x20) < 'a' || (s[0] | 0x20) > 'z')
        return false;
    for (size_t i = 1; i < len; i++)
        if (!((s[i] | 0x20) >= 'a' && (s[i] | 0x20) <= 'z') &&
            !(s[i] >= '0' && s[i] <= '9') && s[i] != '+' && s[i] != '-' &&
            s[i] != '.')
            return false;
    return true;
}

/* What a request must have, and must not (8.3.1, 8.5, and RFC 8441, 4). */
static enum http2_why check_presence(const struct http2_partial *p,
                                     bool connect)
{
    const unsigned where = 1u << HTTP2__P_SCHEME | 1u << HTTP2__P_PATH;
    unsigned got = p->seen & where;

    if (!has(p, HTTP2__P_METHOD))
        return HTTP2_WHY_PSEUDO_MISSING;
    if (!connect)
        return has(p, HTTP2__P_PROTOCOL) ? HTTP2_WHY_PSEUDO_NAME
               : got != where            ? HTTP2_WHY_PSEUDO_MISSING
                                         : HTTP2_WHY_NONE;
    if (!has(p, HTTP2__P_AUTHORITY))
        return HTTP2_WHY_PSEUDO_MISSING;
    if (has(p, HTTP2__P_PROTOCOL))
        return got != where ? HTTP2_WHY_PSEUDO_MISSING : HTTP2_WHY_NONE;
    return got ? HTTP2_WHY_PSEUDO_NAME : HTTP2_WHY_NONE;
}

static enum http2_why check_scheme(struct http2_partial *p)
{
    size_t len;
    const char *s = value_of(p, HTTP2__P_SCHEME, &len);

    if (!has(p, HTTP2__P_SCHEME))
        return HTTP2_WHY_NONE;
    p->https = HTTP1_IS_WORD(s, len, "https");
    return is_scheme(s, len) ? HTTP2_WHY_NONE : HTTP2_WHY_SCHEME;
}

static enum http2_why check_authority(const struct http2_partial *p,
                                      bool port_needed)
{
    size_t len;
    const char *s = value_of(p, HTTP2__P_AUTHORITY, &len);

    return !has(p, HTTP2__P_AUTHORITY) ||
                   http1__authority_valid(s, len, port_needed)
               ? HTTP2_WHY_NONE
               : HTTP2_WHY_AUTHORITY;
}

/* Copied, because what arrives is as long as it likes. */
static enum http2_why check_protocol(struct http2_partial *p)
{
    size_t len;
    const char *s = value_of(p, HTTP2__P_PROTOCOL, &len);

    if (!has(p, HTTP2__P_PROTOCOL))
        return HTTP2_WHY_NONE;
    if (!is_token(s, len) || len > HTTP2_PROTOCOL)
        return HTTP2_WHY_PSEUDO_NAME;
    memcpy(p->protocol, s, len);
    p->protocol[len] = '\0';
    return HTTP2_WHY_NONE;
}

/* The target is in place: what is it? */
static enum http2_why check_target(struct http2_partial *p, bool tunnel)
{
    struct http1_head *h = &p->head;
    const char *s = p->text + h->target;
    uint8_t method = h->method_id;
    int rc;

    if (!tunnel && (h->target_len == 0 ||
                    (s[0] != '/' && !(s[0] == '*' && h->target_len == 1)) ||
                    http1__skip_target(s, 0, h->target_len) != h->target_len))
        return HTTP2_WHY_PATH;
    if (!tunnel && method == HTTP1_CONNECT)
        h->method_id = HTTP1_METHOD_OTHER; /* for this: its target is a path */
    rc = http1__target(h, p->text);
    h->method_id = method;
    return rc == 0 ? HTTP2_WHY_NONE : HTTP2_WHY_PATH;
}

static void write_host(struct http2_partial *p)
{
    size_t len;
    const char *s = value_of(p, HTTP2__P_AUTHORITY, &len);
    struct http1_field *f = &p->fields[0];

    if (!has(p, HTTP2__P_AUTHORITY))
        return;
    *f = (struct http1_field){ .line = (uint16_t)p->len,
                               .line_len = (uint16_t)(len + 8),
                               .name_len = 4,
                               .value = (uint16_t)(p->len + 6),
                               .value_len = (uint16_t)len,
                               .id = HTTP1_ID_HOST };
    add(p, "host: ", 6);
    add(p, s, len);
    add(p, "\r\n", 2);
    p->head.host = f->value;
    p->head.host_len = f->value_len;
    p->head.n_fields = 1;
    p->head.seen |= UINT64_C(1) << HTTP1_ID_HOST;
}

static void request_line(struct http2_partial *p)
{
    struct http1_head *h = &p->head;
    size_t method_len, len;
    const char *method = value_of(p, HTTP2__P_METHOD, &method_len);
    bool connect = method_len == 7 && memcmp(method, "CONNECT", 7) == 0;
    bool tunnel = connect && !has(p, HTTP2__P_PROTOCOL);
    const char *target =
        value_of(p, tunnel ? HTTP2__P_AUTHORITY : HTTP2__P_PATH, &len);

    p->why = (uint8_t)check_presence(p, connect);
    if (!p->why && !is_token(method, method_len))
        p->why = HTTP2_WHY_METHOD;
    if (!p->why)
        p->why = (uint8_t)check_scheme(p);
    if (!p->why)
        p->why = (uint8_t)check_authority(p, tunnel);
    if (!p->why)
        p->why = (uint8_t)check_protocol(p);
    if (p->why)
        return;
    if (p->values_len + len + 32 > p->max_bytes) {
        p->error = HTTP1_EHEAD;
        return;
    }
    h->method_len = (uint16_t)method_len;
    h->method_id = (uint8_t)http1__method_id(method, method_len);
    add(p, method, method_len);
    add(p, " ", 1);
    h->target = (uint16_t)p->len;
    h->target_len = (uint16_t)len;
    add(p, target, len);
    add(p, " HTTP/1.1\r\n", 11);
    h->fields_at = (uint16_t)p->len;
    p->why = (uint8_t)check_target(p, tunnel);
    write_host(p);
}

/* 101 is HTTP/1.1's (8.6). */
static void status_line(struct http2_partial *p)
{
    size_t len;
    const char *s = value_of(p, HTTP2__P_STATUS, &len);

    if (!has(p, HTTP2__P_STATUS)) {
        p->why = HTTP2_WHY_PSEUDO_MISSING;
        return;
    }
    if (len != 3 || s[0] < '1' || s[0] > '9' || s[1] < '0' || s[1] > '9' ||
        s[2] < '0' || s[2] > '9' || memcmp(s, "101", 3) == 0) {
        p->why = HTTP2_WHY_STATUS;
        return;
    }
    p->head.status =
        (uint16_t)((s[0] - '0') * 100 + (s[1] - '0') * 10 + (s[2] - '0'));
    add(p, "HTTP/1.1 ", 9);
    add(p, s, 3);
    add(p, " \r\n", 3);
    p->head.reason = (uint16_t)(p->len - 2);
    p->head.fields_at = (uint16_t)p->len;
}

void http2__first_line(struct http2_partial *p)
{
    p->lined = true;
    if (p->kind == HTTP2__REQUEST_HEAD)
        request_line(p);
    else if (p->kind == HTTP2__RESPONSE_HEAD)
        status_line(p);
}
