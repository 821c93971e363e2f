/* Routes requests: a table of paths, and the actions. */
#include "observe/admin/admin_route.h"

#include <stdio.h>
#include <string.h>

#include "base/hex.h"
#include "bide/run.h"
#include "observe/admin/admin_parts.h"
#include "observe/admin/page.h"
#include "observe/admin/view.h"
#include "observe/export/prometheus.h"

static const char TEXT[] = "text/plain; charset=utf-8";

static void say(struct http_conn *c, int status, const char *text)
{
    admin_answer(
        c, &(struct admin_answer){ status, TEXT, NULL, text, strlen(text) });
}

static bool decode(const char *at, const char *end, char *to, size_t size)
{
    return bide__percent_decode(to, size, at, (size_t)(end - at));
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

/* The value of a parameter of the query, decoded; NULL: it is not there, or too
 * long. Without "=" it is "". */
static const char *parameter(const struct http_conn *c, const char *name,
                             char *to, size_t size)
{
    const char *at = c->in + c->head.path + c->head.path_len;
    const char *end = at + c->head.query_len;
    size_t len = strlen(name);

    while (at < end) {
        const char *begin = at + 1; /* after "?" or "&" */
        for (at = begin; at < end && *at != '&';)
            at++;
        if ((size_t)(at - begin) < len || memcmp(begin, name, len) != 0)
            continue;
        begin += len;
        if (begin == at || *begin == '=')
            return decode(begin == at ? at : begin + 1, at, to, size) ? to
                                                                      : NULL;
    }
    return NULL;
}

/* Which dependency it is about; 0: all. */
static uint64_t topic_of(const struct http_conn *c)
{
    char dep[256];
    const char *name = parameter(c, "dep", dep, sizeof dep);
    return name ? bide__view_topic(name) : 0;
}

static void get_state(struct bide__admin *a, struct http_conn *c)
{
    struct bide__out body = { 0 };
    admin_state(a, &body, topic_of(c));
    admin_json(c, &body);
}

static void get_history(struct bide__admin *a, struct http_conn *c)
{
    struct bide__out body = { 0 };
    char word[8];
    admin_history(a, &body, topic_of(c),
                  parameter(c, "brief", word, sizeof word) != NULL);
    admin_json(c, &body);
}

static void get_stream(struct bide__admin *a, struct http_conn *c)
{
    if (c->head.method_id == HTTP1_HEAD)
        say(c, 200, "");
    else if (!http_server_has_room_for_stream(&a->server))
        admin_problem(c, 503, "there are too many streams already");
    else {
        c->topic = topic_of(c);
        admin_stream_begin(a, c);
    }
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

/* Something of a dependency that can be on or off; `without` is what a program
 * says that does not have it. */
static void post_toggle(struct bide__admin *a, struct http_conn *c,
                        bool (*set)(void *ctx, const char *dep, bool on,
                                    char *why, size_t size),
                        const char *without, const char *dep, const char *word)
{
    bool on = strcmp(word, "on") == 0;
    char why[256] = "";

    if (!on && strcmp(word, "off") != 0)
        admin_problem(c, 400, "expected on or off");
    else if (!set)
        admin_problem(c, 501, without);
    else
        act(c, set(a->conf.source->ctx, dep, on, why, sizeof why), why);
}

static void post_retries(struct bide__admin *a, struct http_conn *c,
                         const char *dep, const char *word)
{
    post_toggle(a, c, a->conf.source->retries,
                "this program cannot turn retries off", dep, word);
}

static void post_fault(struct bide__admin *a, struct http_conn *c,
                       const char *dep, const char *word)
{
    post_toggle(a, c, a->conf.source->fault, "this program makes no faults", dep,
                word);
}

static void post_probe(struct bide__admin *a, struct http_conn *c,
                       const char *dep, const char *word)
{
    const struct bide__source *s = a->conf.source;
    char why[256] = "";

    if (strcmp(word, "now") != 0)
        admin_problem(c, 400, "expected now");
    else if (!s->probe)
        admin_problem(c, 501, "this program cannot probe breakers");
    else
        act(c, s->probe(s->ctx, dep, why, sizeof why), why);
}

static const struct {
    const char *what;
    void (*post)(struct bide__admin *a, struct http_conn *c, const char *dep,
                 const char *word);
} dep_actions[] = {
    { "breaker", post_breaker },
    { "fault", post_fault },
    { "probe", post_probe },
    { "retries", post_retries },
};

/* Where the last segment begins, after its slash; NULL: there is none. */
static const char *last_segment(const char *at, const char *end)
{
    for (const char *p = end; p > at; p--)
        if (p[-1] == '/')
            return p;
    return NULL;
}

/* NAME/breaker/MODE, NAME/fault/on, and so on. Read from the end: there may
 * be slashes in NAME, encoded or not. */
static void post_dep(struct bide__admin *a, struct http_conn *c,
                     const char *at, const char *end)
{
    enum { N = sizeof dep_actions / sizeof dep_actions[0] };
    const char *word_at = last_segment(at, end);
    const char *what_at = word_at ? last_segment(at, word_at - 1) : NULL;
    char dep[256], what[16], word[32];
    size_t i = 0;

    if (!what_at || what_at - 1 == at ||
        !decode(at, what_at - 1, dep, sizeof dep) ||
        !decode(what_at, word_at - 1, what, sizeof what) ||
        !decode(word_at, end, word, sizeof word))
        i = N;
    while (i < N && strcmp(dep_actions[i].what, what) != 0)
        i++;
    if (i < N)
        dep_actions[i].post(a, c, dep, word);
    else
        admin_problem(c, 404,
                      "expected /api/deps/NAME/breaker/MODE, "
                      "/api/deps/NAME/retries/off, /api/deps/NAME/fault/on "
                      "or /api/deps/NAME/probe/now");
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
