/* Who has to go when there is no room. Anybody may connect, so nobody is kept
 * out by those who did: whoever comes gets a place, a moment to ask, and an
 * answer. The places are taken from those who have not moved for longest. */
#include <pthread.h>

#include "observe/admin/admin_parts.h"

static bool is_behind(const struct admin_conn *c)
{
    return c->sent < c->out.len;
}

/* The higher, the longer they are spared: a stream that keeps up is of more
 * worth than a connection that says or takes nothing, and one that has shown the
 * token than any that has not. */
static int rank(const struct admin_conn *c)
{
    return c->known ? 2 : c->mode == ADMIN_STREAMING && !is_behind(c);
}

static bool goes_first(const struct admin_conn *a, const struct admin_conn *b)
{
    return rank(a) != rank(b) ? rank(a) < rank(b) : a->moved_ns < b->moved_ns;
}

typedef bool test(const struct admin_conn *c);

/* Of those, the one that goes first; and how many there are. */
static struct admin_conn *first_of(const struct bide__admin *a, test *among,
                                   size_t *ret_n)
{
    struct admin_conn *first = NULL;

    *ret_n = 0;
    for (size_t i = 0; i < a->n_conns; i++) {
        struct admin_conn *c = a->conns[i];
        if (c->until_ns == ADMIN_OVER || !among(c))
            continue;
        ++*ret_n;
        if (!first || goes_first(c, first))
            first = c;
    }
    return first;
}

static bool is_any(const struct admin_conn *c)
{
    (void)c;
    return true;
}

static bool is_waiting(const struct admin_conn *c)
{
    return c->mode == ADMIN_WRITING && is_behind(c);
}

static bool is_stream(const struct admin_conn *c)
{
    return c->mode == ADMIN_STREAMING;
}

bool admin_room(struct bide__admin *a, int64_t now)
{
    size_t n;
    struct admin_conn *c = first_of(a, is_any, &n);

    if (a->n_conns < ADMIN_CONNECTIONS)
        return true;
    if (!c || now - c->moved_ns < ADMIN_MOMENT_NS)
        return false;
    c->until_ns = ADMIN_OVER;
    return true;
}

void admin_room_for_answers(struct bide__admin *a)
{
    size_t n;
    struct admin_conn *c = first_of(a, is_waiting, &n);

    if (n > ADMIN_WAITING)
        c->until_ns = ADMIN_OVER;
}

bool admin_room_for_stream(struct bide__admin *a, int64_t now)
{
    size_t n;
    struct admin_conn *c = first_of(a, is_stream, &n);

    if (n < ADMIN_STREAMS)
        return true;
    if (!is_behind(c) || now - c->moved_ns < ADMIN_MOMENT_NS)
        return false;
    c->until_ns = ADMIN_OVER;
    return true;
}
