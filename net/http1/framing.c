/* net/http1/framing.c: where a message ends, and whether the connection
 * persists.
 *
 * RFC 9112, section 6.3, with every case in which two readers might disagree
 * turned into a refusal. */
#include "net/http1/framing.h"
#include "net/http1/read.h"
#include "net/http1/target.h"

/* Whether there is nothing but SP before the value, and nothing after it. RFC
 * 9112 allows tabs, and trailing blanks, but some readers take those for a part
 * of the value; if the length of the message depends on it, that is too
 * many. */
static bool plainly_set(const char *buf, const struct http1_field *f)
{
    size_t colon = (size_t)(f->line + f->name_len);

    return !memchr(buf + colon, '\t', f->value - colon) &&
           f->value + f->value_len + 2 == f->line + f->line_len;
}

/* Digits and nothing else, at most INT64_MAX: no sign, no list. */
static int content_length(struct http1_head *h, const char *buf,
                          const struct http1_field *f)
{
    const char *p = buf + f->value;
    size_t len = f->value_len;
    uint64_t value = 0;

    if (http1_has(h, HTTP1_ID_CONTENT_LENGTH))
        return HTTP1_ELENGTHS;
    if (len < 1 || len > 19 || !plainly_set(buf, f))
        return HTTP1_ELENGTH;
    for (size_t i = 0; i < len; i++) {
        if (p[i] < '0' || p[i] > '9')
            return HTTP1_ELENGTH;
        value = value * 10 + (uint64_t)(p[i] - '0'); /* 19 digits fit */
    }
    if (value > INT64_MAX)
        return HTTP1_ELENGTH;
    h->content_length = value;
    h->has_length = true;
    return 0;
}

static int transfer_encoding(struct http1_head *h, const char *buf,
                             const struct http1_field *f)
{
    if (http1_has(h, HTTP1_ID_TRANSFER_ENCODING))
        return HTTP1_ECODINGS;
    if (!HTTP1_IS_WORD(buf + f->value, f->value_len, "chunked"))
        return HTTP1_ECODING;
    return plainly_set(buf, f) ? 0 : HTTP1_ECODING;
}

/* Of a request. Also checked if an absolute target overrides it. */
static int host(struct http1_head *h, const char *buf,
                const struct http1_field *f)
{
    if (http1_has(h, HTTP1_ID_HOST) ||
        !http1__authority_valid(buf + f->value, f->value_len, false))
        return HTTP1_EHOST;
    if (h->form != HTTP1_ABSOLUTE && h->form != HTTP1_AUTHORITY) {
        h->host = f->value;
        h->host_len = f->value_len;
    }
    return 0;
}

/* RFC 9110, 10.1.1: there is one expectation, and HTTP/1.0 does not know it. */
static int expect(struct http1_head *h, const char *p, size_t len)
{
    if (h->minor == 0)
        return 0;
    if (!HTTP1_IS_WORD(p, len, "100-continue"))
        return HTTP1_EEXPECT;
    h->expect_continue = true;
    return 0;
}

int http1__mean(struct http1_head *h, const char *buf,
                const struct http1_field *f)
{
    const char *value = buf + f->value;
    bool request = h->sort == HTTP1__REQUEST;

    switch (f->id) {
    case HTTP1_ID_CONTENT_LENGTH:
        return content_length(h, buf, f);
    case HTTP1_ID_TRANSFER_ENCODING:
        return transfer_encoding(h, buf, f);
    case HTTP1_ID_CONNECTION:
        return http1__connection(h, buf, f);
    case HTTP1_ID_HOST:
        return request ? host(h, buf, f) : 0;
    case HTTP1_ID_EXPECT:
        return request ? expect(h, value, f->value_len) : 0;
    default:
        return 0;
    }
}

static void frame_by_fields(struct http1_head *h, enum http1_framing otherwise)
{
    if (http1_has(h, HTTP1_ID_TRANSFER_ENCODING))
        h->framing = HTTP1_CHUNKED;
    else if (h->has_length)
        h->framing = h->content_length ? HTTP1_LENGTH : HTTP1_NO_BODY;
    else
        h->framing = (uint8_t)otherwise;
}

static int frame_request(struct http1_head *h)
{
    if (h->minor == 1 && !http1_has(h, HTTP1_ID_HOST))
        return HTTP1_EHOST;
    frame_by_fields(h, HTTP1_NO_BODY);
    if (h->method_id == HTTP1_CONNECT && h->framing != HTTP1_NO_BODY)
        return HTTP1_ETUNNEL;
    return 0;
}

/* 1xx and 204 have no body and must not announce one. If one is announced
 * anyway, no one knows what follows on the connection. */
static int frame_bodiless(struct http1_head *h)
{
    h->framing = HTTP1_NO_BODY;
    if (http1_has(h, HTTP1_ID_TRANSFER_ENCODING) || h->content_length > 0)
        h->keep_alive = false;
    return 0;
}

static int frame_tunnel(struct http1_head *h)
{
    h->framing = HTTP1_TUNNEL;
    h->keep_alive = false;
    return 0;
}

static int frame_response(struct http1_head *h)
{
    if (h->status == 101)
        return h->asked_upgrade && h->upgrade ? frame_tunnel(h)
                                              : HTTP1_EUPGRADE;
    if (h->status < 200 || h->status == 204)
        return frame_bodiless(h);
    if (h->asked == HTTP1_CONNECT && h->status < 300)
        return frame_tunnel(h);
    if (h->asked == HTTP1_HEAD || h->status == 304)
        return 0; /* the lengths are those of the response to GET */
    frame_by_fields(h, HTTP1_UNTIL_CLOSE);
    if (h->framing == HTTP1_UNTIL_CLOSE)
        h->keep_alive = false;
    return 0;
}

int http1__finish(struct http1_head *h, const char *buf)
{
    if (http1_has(h, HTTP1_ID_TRANSFER_ENCODING) && h->has_length)
        return HTTP1_EBOTH;
    if (http1_has(h, HTTP1_ID_TRANSFER_ENCODING) && h->minor == 0)
        return HTTP1_ECODING10;
    h->keep_alive = !h->close_named && (h->minor == 1 || h->keep_alive_named);
    h->upgrade =
        h->upgrade_named && h->minor == 1 && http1_has(h, HTTP1_ID_UPGRADE);
    if (h->has_nominated_hop)
        http1__nominated(h, buf);
    return h->sort == HTTP1__REQUEST ? frame_request(h) : frame_response(h);
}
