/* How a gRPC call ended: the status in the head or the trailers of a response, and
 * when it is time to judge. */
#include "config/proxy/conf.h"
#include "net/buf.h"
#include "net/conn.h"
#include "net/http1/body.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/exchange.h"
#include "proxy/generation.h"
#include "proxy/grpc/grpc.h"
#include "proxy/grpc/grpc_answer.h"
#include "proxy/worker.h"

/* A number that no code has is UNKNOWN, as clients of gRPC take it. */
static int8_t status_in(const struct http1_head *head, const char *text)
{
    const struct http1_field *f = http1_find(head, HTTP1_ID_GRPC_STATUS);
    int code = 0;
    if (!f)
        return GRPC_NO_STATUS;
    for (unsigned i = 0; i < f->value_len; i++) {
        char c = text[f->value + i];
        if (c < '0' || c > '9' || i == 2)
            return BIDE_GRPC_UNKNOWN;
        code = code * 10 + (c - '0');
    }
    return f->value_len > 0 && code < BIDE_N_GRPC ? (int8_t)code
                                                  : BIDE_GRPC_UNKNOWN;
}

void grpc_got_head(struct attempt *a)
{
    a->grpc_status = status_in(&a->resp, net_buf_at(a->in));
    if (a->grpc_status != GRPC_NO_STATUS)
        a->ex->grpc_status = a->grpc_status;
    http1_body_keep_trailer(&a->body, a->fields + a->resp.n_fields,
                            FIELDS_MAX - a->resp.n_fields);
}

void grpc_got_trailers(struct attempt *a, const char *text)
{
    int8_t code = status_in(&a->body.trailer, text);
    a->trailer = (uint32_t)(text - a->in->data);
    if (code != GRPC_NO_STATUS)
        a->ex->grpc_status = a->grpc_status = code;
}

bool grpc_holds(struct attempt *a)
{
    const struct exchange *ex = a->ex;
    int64_t hold = ex->generation->conf->grpc.hold_ns;
    if (attempt_is_complete(a) || a->messages || hold == 0 ||
        ex->upload != UPLOAD_NONE || net_buf_space(a->in) == 0 ||
        !grpc_fits(a))
        return false;
    int64_t now = ex->worker->loop.now_ns;
    if (a->hold_ns == 0)
        a->hold_ns = net_after(now, hold);
    if (now >= a->hold_ns)
        return false;
    if (a->hold_ns < a->until_ns)
        attempt_until(a, a->hold_ns);
    return true;
}

void grpc_count(const struct exchange *ex)
{
    struct counters *c = &ex->worker->counters;
    switch (ex->grpc_status) {
    case GRPC_NO_STATUS:
        count(&c->grpc_no_status);
        break;
    case BIDE_GRPC_OK:
        count(&c->grpc_ok);
        break;
    case BIDE_GRPC_UNAVAILABLE:
        count(&c->grpc_unavailable);
        break;
    case BIDE_GRPC_DEADLINE_EXCEEDED:
        count(&c->grpc_deadline_exceeded);
        break;
    case BIDE_GRPC_RESOURCE_EXHAUSTED:
        count(&c->grpc_resource_exhausted);
        break;
    default:
        count(&c->grpc_other);
    }
}

void grpc_describe(const struct attempt *a, bide_response *r,
                   bide_header *fields)
{
    if (a->grpc_status == GRPC_NO_STATUS)
        return;
    r->is_grpc = true;
    r->grpc_status = a->grpc_status;
    if (!attempt_is_complete(a) || a->trailer == 0)
        return;
    const struct http1_head *trailer = &a->body.trailer;
    const char *text = a->in->data + a->trailer;
    for (unsigned i = 0; i < trailer->n_fields && r->n_headers < FIELDS_MAX;
         i++) {
        const struct http1_field *f = &trailer->fields[i];
        fields[r->n_headers++] = (bide_header){ text + f->line, f->name_len,
                                                text + f->value, f->value_len };
    }
}
