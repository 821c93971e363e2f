/* net/http2/fault.c: what the peer did wrong, or too often. */
#include "net/http2/fault.h"

#include "bide/policy.h"
#include "net/http2/bucket.h"
#include "net/http2/queue.h"
#include "net/http2/stream.h"

static bool take(struct http2_conn *c, int64_t *full_ns, uint32_t burst,
                 int64_t interval_ns, enum http2_why why)
{
    if (http2__take(full_ns, burst, interval_ns, c->now_ns))
        return true;
    http2_fail(c, HTTP2_ENHANCE_YOUR_CALM, why);
    return false;
}

void http2__stream_error(struct http2_conn *c, uint32_t id,
                         enum http2_code code, enum http2_why why)
{
    struct http2_stream *s = http2__find(c, id);
    uint32_t n = c->conf->errors_per_min;

    c->why = (uint8_t)why;
    c->code = code;
    c->shared->counts[why]++;
    if (!take(c, &c->errors_ns, n, 60 * BIDE_SECOND / n, HTTP2_WHY_ERRORS))
        return;
    http2__queue_reset(c, id, code);
    http2__count_unsent(c);
    if (c->failed)
        return;
    if (s && !(s->flags & HTTP2_DEAD))
        http2__kill(s, HTTP2_BY_US, code, false);
    else
        http2__note_reset(c, id);
}

bool http2__control(struct http2_conn *c, bool usual)
{
    if (usual && c->credit > 0) {
        c->credit--;
        return true;
    }
    return take(c, &c->control_ns, c->conf->control,
                BIDE_SECOND / c->conf->control_per_s, HTTP2_WHY_CONTROL);
}

bool http2__reset_early(struct http2_conn *c)
{
    return take(c, &c->resets_ns, c->conf->resets,
                BIDE_SECOND / c->conf->resets_per_s, HTTP2_WHY_RESETS);
}
