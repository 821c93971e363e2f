/* net/http1/response.c: the first line of a response.
 *
 *     status-line = HTTP-version SP status-code SP [ reason-phrase ] CRLF
 *
 * The second SP may be missing if there is no reason: many servers omit it, and
 * no reader interprets such a line differently. */
#include "net/http1/first_line.h"
#include "net/http1/read.h"

int http1__version(struct http1_head *h, const char *buf, size_t n)
{
    static const char want[] = "HTTP/0.0";
    const char *p = buf + h->mark;
    size_t there = n - h->mark;

    for (size_t i = 0; i < sizeof want - 1; i++) {
        h->at = (uint16_t)(h->mark + i);
        if (i == there)
            return 0;
        if (want[i] == '0' ? p[i] < '0' || p[i] > '9' : p[i] != want[i])
            return p[i] == '\n' ? HTTP1_EBARELF : HTTP1_ESTART;
    }
    if (p[5] != '1' || p[7] > '1')
        return HTTP1_EVERSION;
    h->minor = (uint8_t)(p[7] - '0');
    h->at++;
    return 1;
}

int http1__first_line_lf(struct http1_head *h, const char *buf, size_t n)
{
    if (h->at == n)
        return 0;
    if (buf[h->at] != '\n')
        return HTTP1_EBARECR;
    h->mark = h->fields_at = ++h->at;
    h->phase = HTTP1__NAME;
    return 1;
}

static int read_version(struct http1_head *h, const char *buf, size_t n)
{
    int rc = http1__version(h, buf, n);

    if (rc <= 0)
        return rc;
    h->mark = h->at;
    h->phase = HTTP1__CODE;
    return 1;
}

/* " 200", from its beginning each time. */
static int read_code(struct http1_head *h, const char *buf, size_t n)
{
    const char *p = buf + h->mark;
    size_t there = n - h->mark;

    for (size_t i = 0; i < 4; i++) {
        h->at = (uint16_t)(h->mark + i);
        if (i == there)
            return 0;
        if (i == 0 && p[0] != ' ')
            return p[0] == '\n' ? HTTP1_EBARELF : HTTP1_ESTART;
        if (i > 0 && (p[i] < (i == 1 ? '1' : '0') || p[i] > '9'))
            return HTTP1_ESTATUS;
    }
    h->at++;
    h->status =
        (uint16_t)((p[1] - '0') * 100 + (p[2] - '0') * 10 + (p[3] - '0'));
    h->phase = HTTP1__REASON;
    h->mark = h->at;
    return 1;
}

/* h->mark is at the SP or CR after the code. */
static int read_reason(struct http1_head *h, const char *buf, size_t n)
{
    if (h->at == n)
        return 0;
    if (h->at == h->mark && buf[h->at] != ' ' && buf[h->at] != '\r')
        return buf[h->at] == '\n' ? HTTP1_EBARELF : HTTP1_ESTATUS;
    h->at = (uint16_t)http1__skip_value(buf, h->at, n);
    if (h->at == n)
        return 0;
    if (buf[h->at] != '\r')
        return buf[h->at] == '\n' ? HTTP1_EBARELF : HTTP1_ESTART;
    h->reason = h->at > h->mark ? h->mark + 1 : h->at;
    h->reason_len = (uint16_t)(h->at - h->reason);
    h->at++;
    h->phase = HTTP1__REASON_LF;
    return 1;
}

int http1__status_line(struct http1_head *h, const char *buf, size_t n)
{
    int rc;

    switch (h->phase) {
    case HTTP1__STATUS:
        if ((rc = read_version(h, buf, n)) <= 0)
            return rc;
        /* fall through */
    case HTTP1__CODE:
        if ((rc = read_code(h, buf, n)) <= 0)
            return rc;
        /* fall through */
    case HTTP1__REASON:
        if ((rc = read_reason(h, buf, n)) <= 0)
            return rc;
        /* fall through */
    default: /* HTTP1__REASON_LF */
        return http1__first_line_lf(h, buf, n);
    }
}
