/* Reading an answer that may come from anybody: bounded, nothing trusted. */
#include "observe/export/post_answer.h"

#include <poll.h>
#include <string.h>
#include <strings.h>

enum { MOST_BODY = 65536 };

/* ===== the head ===== */

static bool is(const bide_header *h, const char *name)
{
    return h->name_len == strlen(name) &&
           strncasecmp(h->name, name, h->name_len) == 0;
}

static const bide_header *find(const struct bide__post_answer *a,
                               const char *name)
{
    for (size_t i = 0; i < a->n_headers; i++)
        if (is(&a->headers[i], name))
            return &a->headers[i];
    return NULL;
}

/* "Name: value", without the line's end. */
static void take_field(struct bide__post_answer *a, const char *line,
                       const char *end)
{
    const char *colon = memchr(line, ':', (size_t)(end - line));
    if (!colon || a->n_headers == BIDE__POST_FIELDS)
        return;
    const char *value = colon + 1;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    a->headers[a->n_headers++] = (bide_header){ line, (size_t)(colon - line),
                                                value, (size_t)(end - value) };
}

/* "HTTP/1.1 200" */
static bool take_status(struct bide__post_answer *a, const char *line,
                        const char *end)
{
    if (end - line < 12 || memcmp(line, "HTTP/1.", 7) != 0 || line[8] != ' ')
        return false;
    a->status = 0;
    for (int i = 9; i < 12; i++) {
        if (line[i] < '0' || line[i] > '9')
            return false;
        a->status = a->status * 10 + line[i] - '0';
    }
    return true;
}

static bool parse(struct bide__post_answer *a, const char *end)
{
    const char *line = a->head;
    bool first = true;

    a->n_headers = 0;
    while (line < end) {
        const char *stop = memchr(line, '\r', (size_t)(end - line));
        if (!stop)
            stop = end;
        if (!first)
            take_field(a, line, stop);
        else if (!take_status(a, line, stop))
            return false;
        first = false;
        line = stop + 2;
    }
    return !first;
}

/* ===== the body ===== */

/* How many bytes follow; -1 if that is not worth knowing. */
static int64_t body_of(const struct bide__post_answer *a)
{
    const bide_header *length = find(a, "Content-Length");
    int64_t n = 0;

    if (a->status == 204 || a->status == 304)
        return 0;
    if (!length || length->value_len == 0 || length->value_len > 5 ||
        find(a, "Transfer-Encoding"))
        return -1;
    for (size_t i = 0; i < length->value_len; i++) {
        if (length->value[i] < '0' || length->value[i] > '9')
            return -1;
        n = n * 10 + length->value[i] - '0';
    }
    return n <= MOST_BODY ? n : -1;
}

static bool wants_close(const struct bide__post_answer *a)
{
    const bide_header *c = find(a, "Connection");
    return a->head[7] == '0' ||
           (c && c->value_len == 5 && strncasecmp(c->value, "close", 5) == 0);
}

/* ===== reading ===== */

/* Some bytes; 0 if it ended, -1 if it broke off, and *ret_fault says how. */
static ssize_t read_some(struct net_conn *conn, char *to, size_t size,
                         const struct bide__post_limit *l,
                         bide_fault *ret_fault)
{
    for (;;) {
        ssize_t n = net_read(conn, to, size);
        if (n >= 0)
            return n;
        *ret_fault = n == NET_AGAIN ? bide__post_wait(conn->io.fd, POLLIN, l)
                                    : BIDE_FAULT_RESET;
        if (*ret_fault != BIDE_FAULT_NONE)
            return -1;
    }
}

static bide_fault read_head(struct net_conn *conn,
                            const struct bide__post_limit *l,
                            struct bide__post_answer *a, const char **ret_end)
{
    bide_fault fault = BIDE_FAULT_NONE;
    while (a->len < sizeof a->head) {
        ssize_t n = read_some(conn, a->head + a->len, sizeof a->head - a->len,
                              l, &fault);
        if (n <= 0)
            return n == 0 ? BIDE_FAULT_RESET : fault;
        a->len += (size_t)n;
        *ret_end = memmem(a->head, a->len, "\r\n\r\n", 4);
        if (*ret_end)
            return BIDE_FAULT_NONE;
    }
    return BIDE_FAULT_MALFORMED;
}

/* Whether all of the body came. An answer counts by its head: if the rest is
 * late, the connection is given up and nothing else. */
static bool skip_body(struct net_conn *conn, const struct bide__post_limit *l,
                      int64_t left)
{
    char buffer[4096];
    bide_fault fault;
    while (left > 0) {
        size_t size =
            left < (int64_t)sizeof buffer ? (size_t)left : sizeof buffer;
        ssize_t n = read_some(conn, buffer, size, l, &fault);
        if (n <= 0)
            return false;
        left -= n;
    }
    return left == 0;
}

bide_fault bide__post_read(struct net_conn *conn,
                           const struct bide__post_limit *l,
                           struct bide__post_answer *ret)
{
    const char *end = NULL;
    bide_fault fault = read_head(conn, l, ret, &end);

    if (fault != BIDE_FAULT_NONE)
        return fault;
    if (!parse(ret, end))
        return BIDE_FAULT_MALFORMED;
    int64_t body = body_of(ret);
    int64_t have = (int64_t)(ret->len - (size_t)(end + 4 - ret->head));
    ret->keep =
        body >= have && !wants_close(ret) && skip_body(conn, l, body - have);
    return BIDE_FAULT_NONE;
}
