/* Copying an answer while it arrives. */
#include "proxy/once/record.h"

#include <stdlib.h>
#include <string.h>

#include "config/proxy/conf.h"
#include "net/buf.h"
#include "proxy/exchange/attempt.h"
#include "proxy/once/blob.h"
#include "proxy/once/once.h"
#include "proxy/once/port.h"
#include "proxy/proxy.h"
#include "proxy/worker.h"

enum { FIRST_ROOM = 1024 };

/* All copies of a worker together get a quarter of its memory. */
static bool may_take(const struct once_port *p, size_t more)
{
    const struct worker *w = p->worker;
    uint64_t mine = w->conf->limits.memory_bytes / w->proxy->n_workers / 4;
    return p->bytes + more <= mine;
}

static bool make_room(struct once_record *r, size_t more)
{
    size_t room = r->room ? 2 * r->room : FIRST_ROOM;
    if (r->room - r->len >= more)
        return true;
    if (room < r->len + more)
        room = r->len + more;
    if (!may_take(r->port, room - r->room))
        return false;
    char *bytes = realloc(r->bytes, room);
    if (!bytes)
        return false;
    r->port->bytes += room - r->room;
    r->bytes = bytes;
    r->room = room;
    return true;
}

/* What does not fit, for whatever reason, is known to have been done, and is not
 * kept. */
static void put(struct once_record *r, const void *data, size_t len)
{
    if (r->too_large || len == 0)
        return;
    if (!make_room(r, len)) {
        r->too_large = true;
        return;
    }
    memcpy(r->bytes + r->len, data, len);
    r->len += len;
}

static void put_lines(struct once_record *r, const struct attempt *a)
{
    const char *bytes = net_buf_at(a->in);
    for (unsigned i = 0; i < a->resp.n_fields; i++) {
        const struct http1_field *f = &a->fields[i];
        if (!f->hop && once_keeps_field(bytes + f->line, f->name_len, f->id))
            put(r, bytes + f->line, f->line_len);
    }
}

void once_record_begin(struct attempt *a)
{
    const struct once *o = a->ex->once;
    uint8_t head[ONCE_BLOB_HEAD] = { 0 };
    if (o->phase != ONCE_OURS || bide__releases(o->conf, a->resp.status))
        return;
    struct once_record *r = calloc(1, sizeof *r);
    if (!r)
        return;
    a->record = r;
    r->port = o->port;
    put(r, head, sizeof head);
    put(r, net_buf_at(a->in) + a->resp.reason, a->resp.reason_len);
    put_lines(r, a);
    r->before = r->len;
    if (r->too_large)
        return;
    once_blob_head((uint8_t *)r->bytes, a->resp.status, a->resp.reason_len,
                   r->len - sizeof head - a->resp.reason_len);
    if (a->resp.framing == HTTP1_LENGTH)
        r->too_large = a->resp.content_length > o->conf->max_body;
}

void once_record_add(struct attempt *a, const char *data, size_t len)
{
    struct once_record *r = a->record;
    if (r->len - r->before + len > a->ex->once->conf->max_body)
        r->too_large = true;
    put(r, data, len);
}

void once_record_free(struct attempt *a)
{
    struct once_record *r = a->record;
    if (!r)
        return;
    r->port->bytes -= r->room;
    free(r->bytes);
    free(r);
    a->record = NULL;
}
