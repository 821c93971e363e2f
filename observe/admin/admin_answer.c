/* Responses: a head, a body, and the header fields that keep a browser from
 * doing more than showing it. */
#include <string.h>

#include "observe/admin/admin_parts.h"
#include "base/json.h"
#include "net/http/server_answer.h"
#include "observe/admin/view.h"
#include "observe/event/wall.h"

static void put_head(struct http_conn *c, int status, const char *type,
                     const char *headers)
{
    http_answer_begin(c, status);
    bide__out_text(&c->out, "Content-Type: ");
    bide__out_text(&c->out, type);
    bide__out_text(&c->out, "\r\nCache-Control: no-store\r\n"
                            "X-Content-Type-Options: nosniff\r\n"
                            "Referrer-Policy: no-referrer\r\n"
                            "Cross-Origin-Resource-Policy: same-origin\r\n");
    if (headers)
        bide__out_text(&c->out, headers);
}

void admin_answer(struct http_conn *c, const struct admin_answer *answer)
{
    put_head(c, answer->status, answer->type, answer->headers);
    http_answer_end(c, answer->body, answer->len);
}

/* RFC 9457. */
void admin_problem(struct http_conn *c, int status, const char *detail)
{
    struct bide__out body = { 0 };
    struct bide__json j;

    bide__json_into(&j, &body);
    bide__json_object(&j, NULL);
    bide__json_text(&j, "title", http_status_text(status));
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

void admin_json(struct http_conn *c, struct bide__out *body)
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
    uint64_t topic;
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

static void write_view(struct bide__admin *a, struct writing *w)
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
        .file = s->file,
        .now_ns = a->loop.now_ns,
        .start_ns = a->start_ns,
        .wall_offset_ns = a->wall_offset_ns,
        .ready = !s->ready || s->ready(s->ctx),
        .draining = s->draining && s->draining(s->ctx),
        .actions = a->token != NULL,
        .observed = observed,
        .topic = w->topic,
    };
    if (a->conf.collector)
        bide__collector_look(a->conf.collector, look, w);
    else
        w->write(w->out, &w->view);
    s->release(s->ctx, observed);
}

void admin_state(struct bide__admin *a, struct bide__out *out, uint64_t topic)
{
    struct writing w = { .out = out,
                         .topic = topic,
                         .write = bide__view_write };
    write_view(a, &w);
}

void admin_history(struct bide__admin *a, struct bide__out *out, uint64_t topic,
                   bool brief)
{
    struct writing w = { .out = out,
                         .topic = topic,
                         .write = brief ? bide__view_brief_history
                                        : bide__view_history };
    write_view(a, &w);
}

/* ===== the stream ===== */

void admin_stream_begin(struct bide__admin *a, struct http_conn *c)
{
    put_head(c, 200, "text/event-stream", NULL);
    http_stream_begin(c);
    bide__out_text(&c->out, "retry: 1000\n\n");
    net_timer_set(&a->loop, &a->tick, a->loop.now_ns); /* the first at once */
}

/* A client that has not read the last message does not get this one, and is
 * dropped if that continues. Those about everything share a message. */
void admin_stream_feed(struct bide__admin *a, struct http_conn *c)
{
    if (!http_stream_next(c))
        return;
    bide__out_text(&c->out, "data: ");
    if (c->topic)
        admin_state(a, &c->out, c->topic);
    else
        bide__out_bytes(&c->out, a->state.data, a->state.len);
    bide__out_text(&c->out, "\n\n");
    http_stream_send(c);
}
