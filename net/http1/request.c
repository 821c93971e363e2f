/* net/http1/request.c: the first line of a request.
 *
 *     request-line = method SP request-target SP HTTP-version CRLF */
#include "net/http1/first_line.h"
#include "net/http1/read.h"
#include "net/http1/target.h"

/* RFC 9112, 2.2: a server should skip an empty line before a request, which old
 * clients sent after a body. One, and only as CRLF. */
static int read_start(struct http1_head *h, const char *buf, size_t n)
{
    if (n == 0)
        return 0;
    if (buf[0] == '\n')
        return HTTP1_EBARELF;
    if (buf[0] == '\r') {
        h->at = 1;
        if (n == 1)
            return 0;
        if (buf[1] != '\n')
            return HTTP1_EBARECR;
        h->at = 2;
    }
    h->method = h->at;
    h->phase = HTTP1__METHOD;
    return 1;
}

enum http1_method http1__method_id(const char *p, size_t len)
{
#define IS(word) (memcmp(p, word, sizeof(word) - 1) == 0)
    switch (len) {
    case 3:
        return IS("GET") ? HTTP1_GET : IS("PUT") ? HTTP1_PUT : 0;
    case 4:
        return IS("POST") ? HTTP1_POST : IS("HEAD") ? HTTP1_HEAD : 0;
    case 5:
        return IS("PATCH") ? HTTP1_PATCH : IS("TRACE") ? HTTP1_TRACE : 0;
    case 6:
        return IS("DELETE") ? HTTP1_DELETE : 0;
    case 7:
        return IS("OPTIONS")   ? HTTP1_OPTIONS
               : IS("CONNECT") ? HTTP1_CONNECT
                               : 0;
    default:
        return HTTP1_METHOD_OTHER;
    }
#undef IS
}

static int read_method(struct http1_head *h, const char *buf, size_t n)
{
    h->at = (uint16_t)http1__skip(buf, h->at, n, HTTP1_C_TOKEN);
    if (h->at == n)
        return 0;
    if (buf[h->at] != ' ' || h->at == h->method)
        return buf[h->at] == '\n' ? HTTP1_EBARELF : HTTP1_EMETHOD;
    h->method_len = (uint16_t)(h->at - h->method);
    h->method_id = (uint8_t)http1__method_id(buf + h->method, h->method_len);
    h->target = ++h->at;
    h->phase = HTTP1__TARGET;
    return 1;
}

static int read_target(struct http1_head *h, const char *buf, size_t n)
{
    int rc;

    h->at = (uint16_t)http1__skip_target(buf, h->at, n);
    if (h->at == n)
        return 0;
    if (buf[h->at] == '\n')
        return HTTP1_EBARELF;
    if (buf[h->at] == '\r' || h->at == h->target)
        return HTTP1_ESTART;
    if (buf[h->at] != ' ')
        return HTTP1_ETARGET;
    h->target_len = (uint16_t)(h->at - h->target);
    rc = http1__target(h, buf);
    if (rc < 0)
        return rc;
    h->mark = ++h->at;
    h->phase = HTTP1__VERSION;
    return 1;
}

static int read_version(struct http1_head *h, const char *buf, size_t n)
{
    int rc;

    if (n - h->mark >= 10 && memcmp(buf + h->mark, "HTTP/1.1\r\n", 10) == 0) {
        h->minor = 1;
        h->at = (uint16_t)(h->mark + 9);
        h->phase = HTTP1__VERSION_LF;
        return 1;
    }
    rc = http1__version(h, buf, n);
    if (rc <= 0 || h->at == n)
        return rc < 0 ? rc : 0;
    if (buf[h->at] != '\r')
        return buf[h->at] == '\n' ? HTTP1_EBARELF : HTTP1_ESTART;
    h->at++;
    h->phase = HTTP1__VERSION_LF;
    return 1;
}

int http1__request_line(struct http1_head *h, const char *buf, size_t n)
{
    int rc;

    switch (h->phase) {
    case HTTP1__START:
        if ((rc = read_start(h, buf, n)) <= 0)
            return rc;
        /* fall through */
    case HTTP1__METHOD:
        if ((rc = read_method(h, buf, n)) <= 0)
            return rc;
        /* fall through */
    case HTTP1__TARGET:
        if ((rc = read_target(h, buf, n)) <= 0)
            return rc;
        /* fall through */
    case HTTP1__VERSION:
        if ((rc = read_version(h, buf, n)) <= 0)
            return rc;
        /* fall through */
    default: /* HTTP1__VERSION_LF */
        return http1__first_line_lf(h, buf, n);
    }
}
