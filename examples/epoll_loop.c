/* An application with an event loop of its own, and bide as a guest in it.
 *
 *     epoll_loop < URLS                     URLs from a pipe or a terminal
 *
 * The loop waits for standard input and for as many transfers as there are, in
 * one thread. What bide needs of it: to watch the sockets that it names, to say
 * when one is ready, and to be called when its next time has come. A call that
 * waits for its next attempt is one timer in there: no socket, no thread. */
#define _POSIX_C_SOURCE 200809L
#include <bide/bide.h>
#include <bide/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

struct app {
    int epoll;
    bide_curl_multi *multi;
    bide_dep *web;
    unsigned running;
    bool input_ended;
    char input[4096];
    size_t n_input;
};

/* ===== what bide asks of the loop ===== */

static void watch(void *ctx, curl_socket_t fd, int what)
{
    struct app *app = ctx;
    struct epoll_event e = { .data.fd = fd };
    if (what & CURL_POLL_IN)
        e.events |= EPOLLIN;
    if (what & CURL_POLL_OUT)
        e.events |= EPOLLOUT;
    if (what == CURL_POLL_REMOVE)
        epoll_ctl(app->epoll, EPOLL_CTL_DEL, fd, NULL);
    else if (epoll_ctl(app->epoll, EPOLL_CTL_MOD, fd, &e) < 0)
        epoll_ctl(app->epoll, EPOLL_CTL_ADD, fd, &e);
}

static int timeout_ms(const struct app *app)
{
    int64_t next = bide_curl_multi_next(app->multi), now = bide_now_ns();
    if (next == BIDE_FOREVER)
        return -1;
    if (next <= now)
        return 0;
    int64_t ms = (next - now - 1) / BIDE_MILLISECOND + 1; /* never too early */
    return ms < 60000 ? (int)ms : 60000;
}

static void on_socket(struct app *app, int fd, uint32_t events)
{
    int ready = 0;
    if (events & EPOLLIN)
        ready |= CURL_CSELECT_IN;
    if (events & EPOLLOUT)
        ready |= CURL_CSELECT_OUT;
    if (events & (EPOLLERR | EPOLLHUP))
        ready |= CURL_CSELECT_ERR;
    bide_curl_multi_socket(app->multi, fd, ready);
}

/* ===== what the application does ===== */

static size_t drop(char *data, size_t size, size_t n, void *ctx)
{
    (void)data, (void)ctx;
    return size * n;
}

static void done(void *ctx, CURL *easy, const bide_curl_result *r)
{
    struct app *app = ctx;
    char *url = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &url);
    printf("%s: %s at attempt %u, status %ld\n", url,
           bide_reason_name(r->reason), r->attempts, r->status);
    free(url);
    curl_easy_cleanup(easy);
    app->running--;
}

static void fetch(struct app *app, const char *url)
{
    CURL *easy = curl_easy_init();
    bide_curl_opts opts = { .write = drop };
    if (!easy)
        abort();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, strdup(url));
    if (bide_curl_multi_add(app->multi, app->web, easy, &opts, done, app) < 0)
        abort();
    app->running++;
}

static void on_input(struct app *app)
{
    ssize_t n =
        read(0, app->input + app->n_input, sizeof app->input - app->n_input);
    if (n <= 0) {
        app->input_ended = true;
        epoll_ctl(app->epoll, EPOLL_CTL_DEL, 0, NULL);
        return;
    }
    app->n_input += (size_t)n;
    char *line = app->input, *end;
    while ((end = memchr(line, '\n', app->n_input)) != NULL) {
        *end++ = '\0';
        fetch(app, line);
        app->n_input -= (size_t)(end - line);
        line = end;
    }
    memmove(app->input, line, app->n_input);
}

int main(void)
{
    struct app app = { .epoll = epoll_create1(EPOLL_CLOEXEC) };
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    struct epoll_event input = { .events = EPOLLIN, .data.fd = 0 };
    setvbuf(stdout, NULL, _IOLBF, 0);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    if (bide_dep_new(&app.web, "web", &conf) < 0 ||
        bide_curl_multi_new(&app.multi) < 0 ||
        epoll_ctl(app.epoll, EPOLL_CTL_ADD, 0, &input) < 0) {
        perror("epoll_loop");
        return 1;
    }
    bide_curl_multi_watch(app.multi, watch, &app);

    while (!app.input_ended || app.running > 0) {
        struct epoll_event e;
        int n = epoll_wait(app.epoll, &e, 1, timeout_ms(&app));
        if (n > 0 && e.data.fd == 0)
            on_input(&app);
        else if (n > 0)
            on_socket(&app, e.data.fd, e.events);
        bide_curl_multi_timeout(app.multi);
    }

    bide_curl_multi_free(app.multi);
    bide_dep_free(app.web);
    curl_global_cleanup();
    return 0;
}
