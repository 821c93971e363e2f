/* net/http/server_room.c: which connection is dropped when there are too
 * many. */
#include "net/http/server_conn.h"
#include "net/http/server_room.h"

#define MOMENT_NS (50 * BIDE_MILLISECOND) /* that every connection gets */

bool http_conn_is_behind(const struct http_conn *c)
{
    return c->sent < c->out.len;
}

/* Connections of a higher rank are dropped later. */
static int rank(const struct http_conn *c)
{
    return c->trusted ? 2
                      : c->phase == HTTP_STREAMING && !http_conn_is_behind(c);
}

static bool goes_first(const struct http_conn *a, const struct http_conn *b)
{
    return rank(a) != rank(b) ? rank(a) < rank(b) : a->moved_ns < b->moved_ns;
}

typedef bool test(const struct http_conn *c);

/* Of the open connections for which `among` holds (NULL: of all), the one to
 * drop first; *ret_n is how many there are. */
static struct http_conn *first_of(const struct http_server *s, test *among,
                                  size_t *ret_n)
{
    struct http_conn *first = NULL, *c;

    *ret_n = 0;
    HTTP_SERVER_EACH(s, c) {
        if (c->net.io.fd < 0 || (among && !among(c)))
            continue;
        ++*ret_n;
        if (!first || goes_first(c, first))
            first = c;
    }
    return first;
}

static bool is_waiting(const struct http_conn *c)
{
    return c->phase == HTTP_WRITING && http_conn_is_behind(c);
}

static bool is_stream(const struct http_conn *c)
{
    return c->phase == HTTP_STREAMING;
}

static bool has_had_a_moment(const struct http_conn *c)
{
    return c->server->loop->now_ns - c->moved_ns >= MOMENT_NS;
}

void http_server_bound_waiting(struct http_server *s)
{
    size_t n;
    struct http_conn *c = first_of(s, is_waiting, &n);

    if (n > s->waiting)
        http_conn_drop(c, false);
}

bool http_server_has_room_for_stream(struct http_server *s)
{
    size_t n;
    struct http_conn *c = first_of(s, is_stream, &n);

    if (n < s->streams)
        return true;
    if (!http_conn_is_behind(c) || !has_had_a_moment(c))
        return false;
    http_conn_drop(c, false);
    return true;
}

unsigned http_server_unanswered(const struct http_server *s)
{
    size_t streams;
    first_of(s, is_stream, &streams);
    return (unsigned)(s->n_conns - streams);
}

bool http_server_has_room(const struct http_server *s, struct http_conn **ret)
{
    size_t n;
    struct http_conn *c = first_of(s, NULL, &n);

    *ret = n < s->connections ? NULL : c;
    return !*ret || has_had_a_moment(c);
}
