/* net/http1/lines.c: header lines, up to the empty one.
 *
 *     field-line = field-name ":" OWS field-value OWS CRLF
 *
 * The hot loop of the parser: a complete line is read at once, an incomplete
 * one is continued in the phase where it broke off. */
#include "net/http1/framing.h"
#include "net/http1/read.h"

/* Why a name ended at a byte that is not a colon. */
static int name_error(const struct http1_head *h, char c)
{
    bool first = h->at == h->mark;

    if (c == '\n')
        return HTTP1_EBARELF;
    if (c == ' ' || c == '\t')
        return first ? HTTP1_EFOLD : HTTP1_ECOLON;
    return HTTP1_ENAME;
}

/* Returns 1 at the colon, or at the CR of the empty line. */
static int read_name(struct http1_head *h, const char *buf, size_t n)
{
    h->at = (uint16_t)http1__skip_token(buf, h->at, n, &h->underscore);
    if (h->at == n)
        return 0;
    if (buf[h->at] == ':' && h->at > h->mark) {
        h->colon = h->at;
        h->phase = HTTP1__BLANKS;
    } else if (buf[h->at] == '\r' && h->at == h->mark) {
        h->phase = HTTP1__END_LF;
    } else {
        return name_error(h, buf[h->at]);
    }
    h->at++;
    return 1;
}

static int read_blanks(struct http1_head *h, const char *buf, size_t n)
{
    while (h->at < n && (buf[h->at] == ' ' || buf[h->at] == '\t'))
        h->at++;
    if (h->at == n)
        return 0;
    h->value = h->at;
    h->phase = HTTP1__VALUE;
    return 1;
}

static int read_value(struct http1_head *h, const char *buf, size_t n)
{
    h->at = (uint16_t)http1__skip_value(buf, h->at, n);
    if (h->at == n)
        return 0;
    if (buf[h->at] != '\r')
        return buf[h->at] == '\n' ? HTTP1_EBARELF : HTTP1_EVALUE;
    h->at++;
    h->phase = HTTP1__VALUE_LF;
    return 1;
}

static int read_lf(struct http1_head *h, const char *buf, size_t n)
{
    if (h->at == n)
        return 0;
    if (buf[h->at] != '\n')
        return HTTP1_EBARECR;
    h->at++;
    return 1;
}

/* h->mark to h->at is a line, and the next begins there. */
static unsigned set_field(struct http1_field *f, const struct http1_head *h,
                          const char *buf)
{
    unsigned end = h->at - 2u; /* CRLF */
    unsigned name_len = (unsigned)(h->colon - h->mark);
    unsigned id = h->underscore ? HTTP1_ID_UNDERSCORE
                                : http1__known_id(buf + h->mark, name_len);

    while (end > h->value && (buf[end - 1] == ' ' || buf[end - 1] == '\t'))
        end--;
    f->line = h->mark;
    f->line_len = (uint16_t)(h->at - h->mark);
    f->name_len = (uint16_t)name_len;
    f->value = h->value;
    f->value_len = (uint16_t)(end - h->value);
    f->id = (uint8_t)id;
    f->hop = http1__flags[id] & HTTP1_HOP;
    return id;
}

static int take_line(struct http1_head *h, const char *buf)
{
    struct http1_field spare;
    struct http1_field *f = h->fields ? &h->fields[h->n_fields] : &spare;
    unsigned id;
    int rc = 0;

    if (h->n_fields == h->max_fields)
        return HTTP1_EFIELDS;
    id = set_field(f, h, buf);
    if (h->sort == HTTP1__TRAILER)
        rc = http1__flags[id] & HTTP1_HEAD_ONLY ? HTTP1_ETRAILER : 0;
    else if (http1__flags[id] & HTTP1_FRAMES)
        rc = http1__mean(h, buf, f);
    if (rc < 0)
        return rc;
    h->n_fields++;
    h->seen |= UINT64_C(1) << id;
    h->mark = h->at;
    h->underscore = false;
    h->phase = HTTP1__NAME;
    return 1;
}

/* The usual case: the next line is complete. False if it is not, or is not
 * well-formed; nothing has changed then, and the phases find out why. Tried
 * only at the beginning of a line, so that a line that arrives byte by byte is
 * not read again for each of them. */
static bool whole_line(struct http1_head *h, const char *buf, size_t n)
{
    bool underscore = false;
    size_t colon = http1__skip_token(buf, h->mark, n, &underscore);
    size_t value = colon + 1, end;

    if (colon == h->mark || colon == n || buf[colon] != ':')
        return false;
    while (value < n && (buf[value] == ' ' || buf[value] == '\t'))
        value++;
    end = http1__skip_value(buf, value, n);
    if (n - end < 2 || buf[end] != '\r' || buf[end + 1] != '\n')
        return false;
    h->underscore = underscore;
    h->colon = (uint16_t)colon;
    h->value = (uint16_t)value;
    h->at = (uint16_t)(end + 2);
    return true;
}

static int read_step(struct http1_head *h, const char *buf, size_t n)
{
    int rc;

    switch (h->phase) {
    case HTTP1__NAME:
        if (h->at == h->mark && whole_line(h, buf, n))
            return take_line(h, buf);
        if ((rc = read_name(h, buf, n)) <= 0 || h->phase == HTTP1__END_LF)
            return rc;
        /* fall through */
    case HTTP1__BLANKS:
        if ((rc = read_blanks(h, buf, n)) <= 0)
            return rc;
        /* fall through */
    case HTTP1__VALUE:
        if ((rc = read_value(h, buf, n)) <= 0)
            return rc;
        /* fall through */
    case HTTP1__VALUE_LF:
        if ((rc = read_lf(h, buf, n)) <= 0)
            return rc;
        return take_line(h, buf);
    default: /* HTTP1__END_LF */
        if ((rc = read_lf(h, buf, n)) <= 0)
            return rc;
        h->head_len = h->at;
        h->phase = HTTP1__DONE;
        return 1;
    }
}

int http1__lines(struct http1_head *h, const char *buf, size_t n)
{
    int rc = 1;

    while (rc > 0 && h->phase != HTTP1__DONE)
        rc = read_step(h, buf, n);
    return rc;
}
