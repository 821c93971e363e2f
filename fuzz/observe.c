/* observe.c: what observe/ reads of strangers, and what it writes of their
 * words. The first byte says which: a traceparent, the URL of a collector, its
 * answer, a request to the admin endpoint, or text that ends up in metrics and
 * JSON. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config/doc/tree.h"
#include "observe/admin/admin_parts.h"
#include "bide/bide.h"
#include "base/json.h"
#include "observe/admin/admin_route.h"
#include "observe/admin/admin_route.h"
#include "observe/export/otlp_writer.h"
#include "observe/export/post.h"
#include "observe/export/prometheus.h"
#include "observe/event/traceparent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int truth)
{
    if (!truth)
        abort();
}

/* What was read is written the same, and read the same again. */
static void trace(const char *text, size_t len)
{
    struct bide__trace t, again;
    char written[BIDE__TRACEPARENT + 1];

    if (!bide__traceparent_read(&t, text, len))
        return;
    memcpy(t.span_id, t.parent_id, sizeof t.span_id);
    bide__traceparent_write(&t, written);
    must(strlen(written) == BIDE__TRACEPARENT);
    must(memcmp(written + 2, text + 2, 51) == 0);
    must(bide__traceparent_read(&again, written, BIDE__TRACEPARENT));
    must(memcmp(t.trace_id, again.trace_id, sizeof t.trace_id) == 0);
    must(t.sampled == again.sampled);
}

static void url(const char *text)
{
    struct bide__post post;

    if (bide__post_init(&post, text, NULL))
        return;
    must(post.host[0] && post.port[0] && post.client.conn.io.fd < 0);
    must(!strpbrk(post.host, " \r\n/") && !strpbrk(post.prefix, " \r\n"));
    bide__post_done(&post);
}

/* Whatever a server says, the client is done with it when it has hung up. */
static void answer(const char *text, size_t len)
{
    struct bide__out body = { 0 };
    struct http_request r = { .method = "GET", .target = "/", .host = "h",
                              .until_ns = BIDE_FOREVER, .into = &body,
                              .max_body = 65536, .keep = true };
    struct http1_field fields[HTTP1_FIELDS];
    struct http_client c;
    char in[2048];
    int fd[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd) != 0)
        return;
    http_client_init(&c, in, sizeof in);
    c.conn.io.fd = fd[1];
    c.fields = fields;
    must(http_client_begin(&c, &r));
    must(send(fd[0], text, len, 0) >= 0);
    shutdown(fd[0], SHUT_WR);
    http_client_step(&c, EPOLLIN | EPOLLOUT | EPOLLRDHUP);
    must(c.phase == HTTP_IDLE && body.len <= 65536);
    must(c.fault != BIDE_FAULT_NONE ||
         (c.head.status >= 200 && c.head.status <= 999));
    http_client_close(&c);
    bide__out_done(&body);
    close(fd[0]);
}

/* ===== the admin endpoint ===== */

static const struct bide__observed nothing;

static const struct bide__observed *hold(void *ctx)
{
    (void)ctx;
    return &nothing;
}

static void release(void *ctx, const struct bide__observed *w)
{
    (void)ctx;
    (void)w;
}

static bool force(void *ctx, const char *dep, bide_breaker_mode mode, char *why,
                  size_t size)
{
    (void)ctx;
    (void)why;
    (void)size;
    must(strlen(dep) < 256 && (unsigned)mode <= BIDE_BREAKER_DRY_RUN);
    return true;
}

enum { MOST_HEAD = 8192 };

static void request(const char *text, size_t len)
{
    static const struct bide__source source = {
        .program = "fuzz", .hold = hold, .release = release, .force = force
    };
    static char token[] = "0123456789abcdef";
    static struct bide__admin a;
    struct http_conn *c = calloc(1, sizeof *c + MOST_HEAD);

    if (!a.token) {
        must(net_loop_init(&a.loop) == 0);
        a.conf.source = &source;
        a.token = token;
        a.server = (struct http_server)HTTP_SERVER_INIT;
        a.server.user = &a;
        bide__list_init(&a.server.conns);
    }
    if (!c)
        return;
    c->server = &a.server;
    c->handing = true;
    c->in_len = len < MOST_HEAD ? len : MOST_HEAD;
    memcpy(c->in, text, c->in_len);
    http1_request_init(&c->head, c->fields, HTTP_SERVER_FIELDS, MOST_HEAD);
    if (http1_parse(&c->head, c->in, c->in_len) > 0) {
        admin_route(c);
        must(c->out.failed || memcmp(c->out.data, "HTTP/1.1 ", 9) == 0);
    }
    bide__out_done(&c->out);
    free(c);
}

/* ===== text ===== */

static void words(const char *text, size_t len)
{
    struct bide__out out = { 0 };
    struct bide__json j;
    struct bide__tree *tree = NULL;

    bide__json_into(&j, &out);
    bide__json_text_n(&j, NULL, text, len);
    must(bide__tree_json(&tree, "q", out.data, out.len, NULL) == 0);
    bide__tree_free(tree);
    bide__out_clear(&out);
    bide__prometheus_label(&out, text);
    for (size_t i = 0; i < out.len; i++) {
        must(out.data[i] != '\n' && out.data[i] != '"');
        i += out.data[i] == '\\';
    }
    bide__out_clear(&out);
    for (int json = 0; json < 2; json++) {
        struct bide__otlp w = { .out = &out, .json = json };
        bide__otlp_begin(&w);
        bide__otlp_list(&w, "attributes");
        bide__otlp_attribute(&w, 9, text, strlen(text), text);
        bide__otlp_end(&w);
        bide__otlp_text(&w, 5, "name", text);
        bide__otlp_finish(&w);
    }
    must(!out.failed);
    bide__out_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 32768)
        return 0;
    char *text = malloc(size); /* with a NUL in the place of the first byte */
    if (!text)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (data[0] % 5) {
    case 0:
        trace(text, size - 1);
        break;
    case 1:
        url(text);
        break;
    case 2:
        answer(text, size - 1);
        break;
    case 3:
        request(text, size - 1);
        break;
    default:
        words(text, size - 1);
        break;
    }
    free(text);
    return 0;
}
