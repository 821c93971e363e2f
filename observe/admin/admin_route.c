/* Routes requests: a table of paths, and the actions. */
#include "observe/admin/admin_route.h"

#include <stdio.h>
#include <string.h>

#include "base/hex.h"
#include "bide/run.h"
#include "observe/admin/admin_parts.h"
#include "observe/admin/page.h"
#include "observe/export/prometheus.h"

static const char TEXT[] = "text/plain; charset=utf-8";

static void say(struct http_conn *c, int status, const char *text)
{
    admin_answer(
        c, &(struct admin_answer){ status, TEXT, NULL, text, strlen(text) });
}

/* ===== GET ===== */

static void get_page(struct bide__admin *a, struct http_conn *c)
{
    (void)a;
    admin_answer(c, &(struct admin_answer){ 200, "text/html; charset=utf-8",
                                            bide__page_headers, bide__page,
                                            bide__page_len });
}

static void get_metrics(struct bide__admin *a, struct http_conn *c)
{
    const struct bide__source *s = a->conf.source;
    const struct bide__observed *w = s->hold(s->ctx);
    struct bide__out body = { 0 };

    if (w) {
        bide__prometheus_write(&body, w, a->loop.now_ns);
        s->release(s->ctx, w);
    }
    if (!w || body.failed)
        admin_problem(c, 503, "no memory");
    else
        admin_answer(c, &(struct admin_answer){ 200, BIDE__PROMETHEUS_TYPE,
                                                NULL, body.data, body.len });
    bide__out_done(&body);
}

static void get_health(struct bide__admin *a, struct http_conn *c)
{
    const struct bide__source *s = a->conf.source;
    char why[256] = "";
    bool healthy = !s->healthy || s->healthy(s->ctx, why, sizeof why - 1);

    strcat(why, "\n");
    say(c, healthy ? 200 : 503, healthy ? "ok\n" : why);
}

static void get_ready(struct bide__admin *a, struct http_conn *c)
{
    const struct bide__source *s = a->conf.source;
    bool draining = s->draining && s->draining(s->ctx);
    bool ready = !draining && (!s->ready || s->ready(s->ctx));

    say(c, ready ? 200 : 503,
        ready      ? "ready\n"
        : draining ? "draining\n"
                   : "not ready\n");
}

static void get_state(struct bide__admin *a, struct http_conn *c)
{
    struct bide__out body = { 0 };
    admin_state(a, &body);
    admin_json(c, &body);
}

static void get_history(struct bide__admin *a, struct http_conn *c)
{
    struct bide__out body = { 0 };
    admin_history(a, &body);
    admin_json(c, &body);
}

static void get_stream(struct bide__admin *a, struct http_conn *c)
{
    if (c->head.method_id == HTTP1_HEAD)
        say(c, 200, "");
    else if (!http_server_has_room_for_stream(&a->server))
        admin_problem(c, 503, "there are too many streams already");
    else
        admin_stream_begin(a, c);
}

static const struct {
    const char *path;
    void (*get)(struct bide__admin *a, struct http_conn *c);
} paths[] = {
    { "/", get_page },
    { "/metrics", get_metrics },
    { "/healthz", get_health },
    { "/readyz", get_ready },
    { "/api/state", get_state },
    { "/api/history", get_history },
    { "/api/stream", get_stream },
};

/* ===== POST ===== */

/* Copies the part before the next slash, with %XX decoded. Returns the rest, or
 * NULL if it is malformed or too long. */
static const char *segment(const char *at, const char *end, char *to,
                           size_t size)
{
    size_t n = 0;
    for (; at < end && *at != '/'; at++) {
        int c = (unsigned char)*at;
        if (c == '%') {
            c = end - at < 3 ? -1 : bide__hex_byte(at + 1);
            at += 2;
        }
        if (c <= 0 || n + 1 >= size)
            return NULL;
        to[n++] = (char)c;
    }
    to[n] = '\0';
    return at;
}

static const char no_action[] = "expected /api/deps/NAME/breaker/MODE, "
                                "/api/deps/NAME/retries/off or "
                                "/api/deps/NAME/fault/on";

static bool mode_by_name(const char *name, bide_breaker_mode *ret)
{
    static const char *const names[] = {
#define X(name, key) key,
        BIDE_BREAKER_MODES(X)
#undef X
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0) {
            *ret = (bide_breaker_mode)i;
            return true;
        }
    return false;
}

static void act(struct http_conn *c, bool done, const char *why)
{
    if (done)
        say(c, 200, "done\n");
    else
        admin_problem(c, 409, why);
}

static void post_breaker(struct bide__admin *a, struct http_conn *c,
                         const char *dep, const char *mode_name)
{
    const struct bide__source *s = a->conf.source;
    bide_breaker_mode mode;
    char why[256] = "";

    if (!mode_by_name(mode_name, &mode))
        admin_problem(c, 400,
                      "expected the mode normal, forced_open, "
                      "forced_closed or dry_run");
    else if (!s->force)
        admin_problem(c, 501, "this program cannot force breakers");
    else
        act(c, s->force(s->ctx, dep, mode, why, sizeof why), why);
}

/* Something of a dependency that can be on or off. */
struct toggle {
    const char *what;
    bool (*set)(void *ctx, const char *dep, bool on, char *why, size_t size);
    const char *without; /* what a program says that does not have it */
};

static void post_toggle(struct bide__admin *a, struct http_conn *c,
                        const struct toggle *t, const char *dep,
                        const char *word)
{
    bool on = strcmp(word, "on") == 0;
    char why[256] = "";

    if (!on && strcmp(word, "off") != 0)
        admin_problem(c, 400, "expected on or off");
    else if (!t->set)
        admin_problem(c, 501, t->without);
    else
        act(c, t->set(a->conf.source->ctx, dep, on, why, sizeof why), why);
}

static void post_action(struct bide__admin *a, struct http_conn *c,
                        const char *dep, const char *what, const char *word)
{
    const struct bide__source *s = a->conf.source;
    const struct toggle toggles[] = {
        { "retries", s->retries, "this program cannot turn retries off" },
        { "fault", s->fault, "this program makes no faults" },
    };

    if (strcmp(what, "breaker") == 0) {
        post_breaker(a, c, dep, word);
        return;
    }
    for (size_t i = 0; i < sizeof toggles / sizeof toggles[0]; i++)
        if (strcmp(what, toggles[i].what) == 0) {
            post_toggle(a, c, &toggles[i], dep, word);
            return;
        }
    admin_problem(c, 404, no_action);
}

/* /api/deps/NAME/breaker/MODE, .../retries/off or .../fault/on, starting at
 * NAME. */
static void post_dep(struct bide__admin *a, struct http_conn *c,
                     const char *at, const char *end)
{
    char dep[256], what[16], word[32];

    at = segment(at, end, dep, sizeof dep);
    if (at && at < end)
        at = segment(at + 1, end, what, sizeof what);
    if (at && at < end)
        at = segment(at + 1, end, word, sizeof word);
    else
        at = NULL;
    if (at && at == end)
        post_action(a, c, dep, what, word);
    else
        admin_problem(c, 404, no_action);
}

static void post(struct bide__admin *a, struct http_conn *c, const char *path,
                 size_t len)
{
    static const char deps[] = "/api/deps/";
    const struct bide__source *s = a->conf.source;
    bool drain = len == 10 && memcmp(path, "/api/drain", 10) == 0;
    bool reload = len == 11 && memcmp(path, "/api/reload", 11) == 0;
    bool dep =
        len > sizeof deps - 1 && memcmp(path, deps, sizeof deps - 1) == 0;
    char why[512] = "";
    int status;
    const char *refused = admin_guard_action(a, c, &status);

    if (!drain && !reload && !dep)
        admin_problem(c, 404, "no such action");
    else if (refused)
        admin_problem(c, status, refused);
    else if (dep)
        post_dep(a, c, path + sizeof deps - 1, path + len);
    else if ((drain && !s->drain) || (reload && !s->reload))
        admin_problem(c, 501, "this program cannot do that");
    else if (drain)
        act(c, s->drain(s->ctx, why, sizeof why), why);
    else
        act(c, s->reload(s->ctx, why, sizeof why), why);
}

void admin_route(struct http_conn *c)
{
    struct bide__admin *a = c->server->user;
    const char *path = c->in + c->head.path;
    size_t len = c->head.path_len;
    const char *refused = admin_guard(a, c);
    int status;

    if (refused) {
        admin_problem(c, 403, refused);
        return;
    }
    c->trusted = c->trusted || !admin_guard_action(a, c, &status);
    if (c->head.method_id == HTTP1_POST) {
        post(a, c, path, len);
        return;
    }
    if (c->head.method_id != HTTP1_GET && c->head.method_id != HTTP1_HEAD) {
        admin_problem(c, 405, "expected GET, HEAD or POST");
        return;
    }
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (strlen(paths[i].path) == len &&
            memcmp(paths[i].path, path, len) == 0) {
            paths[i].get(a, c);
            return;
        }
    admin_problem(c, 404, "no such page");
}
