/* http1.c: one message, head and body, cut into pieces in different ways.
 *
 * The first byte says whether it is a request or which response, the second
 * where to cut. All ways of cutting come to the same; all offsets lie inside
 * the input; what was accepted holds no line end but CRLF; and the lines of the
 * head lie one behind the other without a gap. */
#include "http1_text.h"
#include "net/http1/body.h"

enum { TEXT = 65536, MOST = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int truth)
{
    if (!truth)
        abort();
}

/* ===== the head ===== */

static void begin(struct http1_head *h, struct http1_field *fields, int mode)
{
    static const enum http1_method asked[] = { HTTP1_GET, HTTP1_HEAD,
                                               HTTP1_CONNECT, HTTP1_GET };

    if (mode < 4)
        http1_request_init(h, fields, HTTP1_FIELDS, HTTP1_HEAD_BYTES);
    else
        http1_response_init(h, fields, HTTP1_FIELDS, HTTP1_HEAD_BYTES,
                            asked[mode - 4], mode == 7);
}

static void check_field(const struct http1_field *f, const char *bytes)
{
    unsigned end = (unsigned)(f->line + f->line_len);

    must(f->name_len > 0 && f->line + f->name_len < f->value);
    must(bytes[f->line + f->name_len] == ':');
    must(f->value + f->value_len + 2u <= end);
    must(memcmp(bytes + end - 2, "\r\n", 2) == 0);
    must(!memchr(bytes + f->line, '\r', f->line_len - 2u));
    must(!memchr(bytes + f->line, '\n', f->line_len - 2u));
    must(!memchr(bytes + f->line, '\0', f->line_len));
    must(f->id == http1_name_id(bytes + f->line, f->name_len));
}

static void check_head(const struct http1_head *h, const char *bytes,
                       size_t len)
{
    unsigned at = h->fields_at;

    must(h->head_len <= len);
    for (unsigned i = 0; i < h->n_fields; i++) {
        must(h->fields[i].line == at);
        check_field(&h->fields[i], bytes);
        at += h->fields[i].line_len;
    }
    must(at + 2u == h->head_len);
    must(memcmp(bytes + at, "\r\n", 2) == 0);
    must(h->method + h->method_len < h->fields_at);
    must(h->target + h->target_len < h->fields_at);
    must(h->path + h->path_len + h->query_len < h->fields_at);
    must(h->host + h->host_len < h->head_len);
    must(h->reason + h->reason_len < h->fields_at);
    must((h->framing == HTTP1_LENGTH) <= (h->content_length > 0));
    must(h->framing != HTTP1_UNTIL_CLOSE || !h->keep_alive);
}

/* ===== the body ===== */

/* The data may hold anything, and goes into the text as a sum. */
struct sum {
    uint64_t fnv, bytes;
};

static void sum_add(struct sum *s, const char *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        s->fnv = (s->fnv ^ (uint8_t)p[i]) * UINT64_C(0x100000001b3);
    s->bytes += len;
}

static int take(struct http1_body *b, struct sum *s, const char *p, size_t len,
                size_t *used)
{
    char *copy = exactly(p, len);
    size_t at = 0;
    int rc;

    do {
        struct http1_piece piece;

        rc = http1_body_next(b, copy + at, len - at, &piece);
        if (rc < 0)
            break;
        must(piece.data + piece.data_len <= piece.consumed);
        must(piece.consumed <= len - at);
        must((rc == HTTP1_DATA) == (piece.data_len > 0));
        sum_add(s, copy + at + piece.data, piece.data_len);
        at += piece.consumed;
    } while (rc == HTTP1_DATA);
    free(copy);
    *used += at;
    return rc;
}

static void add_body(struct text *t, const struct http1_head *h,
                     const char *bytes, size_t len, long cut)
{
    struct sum s = { 0 };
    struct http1_body b;
    size_t at = 0, end = 0;
    int rc;

    http1_body_init(&b, (enum http1_framing)h->framing, h->content_length);
    do {
        end = next_cut(end, len, cut);
        rc = take(&b, &s, bytes + at, end - at, &at);
    } while (rc == HTTP1_MORE && end < len);
    add(t, "\n%d %llx %llu eof %d", rc, (unsigned long long)s.fnv,
        (unsigned long long)s.bytes, http1_body_eof(&b));
    if (rc == HTTP1_END)
        add(t, " at %zu trailers %u", at, b.trailer.n_fields);
}

/* ===== both, in one way of cutting ===== */

static void outcome(char *to, const char *bytes, size_t len, int mode, long cut)
{
    struct text t = { to, TEXT };
    struct http1_field fields[HTTP1_FIELDS];
    struct http1_head h;
    int rc;

    begin(&h, fields, mode);
    rc = feed_head(&h, bytes, len, cut);
    if (rc <= 0) {
        must(rc == 0 || strcmp(http1_error_name(rc), "none") != 0);
        add_error(&t, rc, h.at);
        return;
    }
    must(h.head_len == rc);
    check_head(&h, bytes, len);
    if (mode < 4)
        add_request(&t, &h, bytes);
    else
        add_response(&t, &h, bytes);
    add_fields(&t, &h, bytes);
    add_body(&t, &h, bytes + rc, len - (size_t)rc, cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char whole[TEXT], cut[TEXT];

    if (size < 2 || size - 2 > MOST)
        return 0;
    const char *bytes = (const char *)data + 2;
    size_t len = size - 2;
    int mode = data[0] % 8;
    outcome(whole, bytes, len, mode, FEED_WHOLE);
    outcome(cut, bytes, len, mode, FEED_BYTES);
    must(strcmp(whole, cut) == 0);
    if (len > 0) {
        outcome(cut, bytes, len, mode, (long)(data[1] * len / 256));
        must(strcmp(whole, cut) == 0);
    }
    return 0;
}
