/* Answers: a head, a body, and the fields that keep a browser from doing more
 * with it than showing it. */
#include <pthread.h>
#include <string.h>

#include "observe/admin/admin_parts.h"
#include "base/json.h"
#include "observe/admin/view.h"
#include "observe/event/wall.h"

static const char *status_text(int status)
{
    static const struct {
        int status;
        const char *text;
    } texts[] = {
        { 200, "OK" },
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 409, "Conflict" },
        { 417, "Expectation Failed" },
        { 431, "Request Header Fields Too Large" },
        { 500, "Internal Server Error" },
        { 501, "Not Implemented" },
        { 503, "Service Unavailable" },
        { 505, "HTTP Version Not Supported" },
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].status == status)
            return texts[i].text;
    return "Error";
}

static void put_head(struct admin_conn *c, int status, const char *type,
                     const char *headers)
{
    bide__out_text(&c->out, "HTTP/1.1 ");
    bide__out_u64(&c->out, (uint64_t)status);
    bide__out_char(&c->out, ' ');
    bide__out_text(&c->out, status_text(status));
    bide__out_text(&c->out, "\r\nContent-Type: ");
    bide__out_text(&c->out, type);
    bide__out_text(&c->out, "\r\nCache-Control: no-store\r\n"
                            "X-Content-Type-Options: nosniff\r\n"
                            "Referrer-Policy: no-referrer\r\n"
                            "Cross-Origin-Resource-Policy: same-origin\r\n");
    if (headers)
        bide__out_text(&c->out, headers);
}

void admin_answer(struct admin_conn *c, const struct admin_answer *answer)
{
    put_head(c, answer->status, answer->type, answer->headers);
    bide__out_text(&c->out, c->keep ? "Content-Length: "
                                    : "Connection: close\r\nContent-Length: ");
    bide__out_u64(&c->out, answer->len);
    bide__out_text(&c->out, "\r\n\r\n");
    if (c->head.method_id != HTTP1_HEAD)
        bide__out_bytes(&c->out, answer->body, answer->len);
}

/* RFC 9457. */
void admin_problem(struct admin_conn *c, int status, const char *detail)
{
    struct bide__out body = { 0 };
    struct bide__json j;

    bide__json_into(&j, &body);
    bide__json_object(&j, NULL);
    bide__json_text(&j, "title", status_text(status));
    bide__json_count(&j, "status", (uint64_t)status);
    bide__json_text(&j, "detail", detail);
    bide__json_end(&j);
    bide__json_done(&j);
    admin_answer(c, &(struct admin_answer){
                        status, "application/problem+json",
                        status == 401 ? "WWW-Authenticate: Bearer\r\n" : NULL,
                        body.data, body.len });
    bide__out_done(&body);
}

void admin_json(struct admin_conn *c, struct bide__out *body)
{
    bide__out_char(body, '\n');
    if (body->failed)
        admin_problem(c, 503, "no memory");
    else
        admin_answer(c, &(struct admin_answer){ 200, "application/json", NULL,
                                                body->data, body->len });
    bide__out_done(body);
}

/* ===== the state ===== */

struct writing {
    struct bide__out *out;
    struct bide__view view;
    void (*write)(struct bide__out *out, const struct bide__view *view);
};

static void look(void *ctx, const struct bide__history *history,
                 const struct bide__journal *journal)
{
    struct writing *w = ctx;
    w->view.history = history;
    w->view.journal = journal;
    w->write(w->out, &w->view);
}

static void write_view(struct bide__admin *a, struct writing *w, int64_t now)
{
    const struct bide__source *s = a->conf.source;
    const struct bide__observed *observed = s->hold(s->ctx);

    if (!observed) {
        w->out->failed = true;
        return;
    }
    a->wall_offset_ns =
        bide__wall_follow(a->wall_offset_ns, bide__wall_offset_ns());
    w->view = (struct bide__view){
        .program = s->program,
        .now_ns = now,
        .start_ns = a->start_ns,
        .wall_offset_ns = a->wall_offset_ns,
        .ready = !s->ready || s->ready(s->ctx),
        .draining = s->draining && s->draining(s->ctx),
        .actions = a->token != NULL,
        .observed = observed,
    };
    if (a->conf.collector)
        bide__collector_look(a->conf.collector, look, w);
    else
        w->write(w->out, &w->view);
    s->release(s->ctx, observed);
}

void admin_state(struct bide__admin *a, struct bide__out *out, int64_t now)
{
    struct writing w = { .out = out, .write = bide__view_write };
    write_view(a, &w, now);
}

void admin_history(struct bide__admin *a, struct bide__out *out, int64_t now)
{
    struct writing w = { .out = out, .write = bide__view_history };
    write_view(a, &w, now);
}

/* ===== the stream ===== */

void admin_stream_begin(struct bide__admin *a, struct admin_conn *c)
{
    c->keep = false;
    put_head(c, 200, "text/event-stream", "Connection: close\r\n\r\n");
    bide__out_text(&c->out, "retry: 1000\n\n");
    c->mode = ADMIN_STREAMING;
    a->tick_ns = 0; /* the first message at once */
}

/* One who has not taken the last message does not get this one, and is dropped
 * if that goes on. */
void admin_stream_feed(const struct bide__admin *a, struct admin_conn *c,
                       int64_t now)
{
    if (c->sent < c->out.len)
        return;
    bide__out_clear(&c->out);
    c->sent = 0;
    c->until_ns = now + ADMIN_PATIENCE_NS;
    bide__out_text(&c->out, "data: ");
    bide__out_bytes(&c->out, a->state.data, a->state.len);
    bide__out_text(&c->out, "\n\n");
}
