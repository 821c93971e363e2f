/* The multi driver: any number of calls over one libcurl multi handle.
 *
 * libcurl is driven through its socket interface, by the application's event
 * loop or by the one in loop.c: the cost of an iteration depends on the sockets
 * that are ready, not on those that are open. */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/list.h"
#include "bide/error.h"
#include "curl/multi.h"
#include "lib/sized.h"

/* ===== what libcurl asks for ===== */

static int on_socket(CURL *easy, curl_socket_t socket, int what, void *multi,
                     void *of_socket)
{
    (void)easy, (void)of_socket;
    bide_curl_multi *m = multi;
    m->watch(m->watch_ctx, socket, what);
    return 0;
}

static int on_timer(CURLM *curl, long timeout_ms, void *multi)
{
    (void)curl;
    bide_curl_multi *m = multi;
    m->curl_ns = timeout_ms < 0 ? BIDE_FOREVER
                                : bide_now_ns() + timeout_ms * BIDE_MILLISECOND;
    return 0;
}

/* ===== making, adding, cancelling ===== */

int bide_curl_multi_new(bide_curl_multi **ret_multi)
{
    if (!ret_multi)
        return BIDE_EINVAL;
    bide_curl_multi *m = calloc(1, sizeof *m);
    if (!m)
        return BIDE_ENOMEM;
    m->curl = curl_multi_init();
    m->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!m->curl || m->epoll < 0) {
        bide_curl_multi_free(m);
        return BIDE_ENOMEM;
    }
    bide__wheel_init(&m->wheel, bide_now_ns(), BIDE_MILLISECOND);
    m->curl_ns = BIDE_FOREVER;
    m->watch = bide__loop_watch;
    m->watch_ctx = m;
    curl_multi_setopt(m->curl, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(m->curl, CURLMOPT_SOCKETDATA, m);
    curl_multi_setopt(m->curl, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(m->curl, CURLMOPT_TIMERDATA, m);
    *ret_multi = m;
    return 0;
}

void bide_curl_multi_free(bide_curl_multi *multi)
{
    if (!multi)
        return;
    int64_t now = bide_now_ns();
    for (size_t i = 0; i < multi->calls.n_slots; i++)
        while (multi->calls.slots[i])
            bide__multi_abandon(multi->calls.slots[i], now);
    curl_multi_cleanup(multi->curl);
    if (multi->epoll >= 0)
        close(multi->epoll);
    bide__table_free(&multi->calls);
    free(multi);
}

static void soon(struct bide__multi_call *mc)
{
    bide__wheel_set(&mc->multi->wheel, &mc->timer, 0);
}

static void wake(struct bide__curl_call *c)
{
    soon((struct bide__multi_call *)c);
}

int bide_curl_multi_add_sized(bide_curl_multi *multi, bide_dep *dep, CURL *easy,
                              const bide_curl_opts *opts, size_t size,
                              bide_curl_done_fn done, void *ctx)
{
    bide_curl_opts room;
    if (!multi || !dep || !easy)
        return BIDE_EINVAL;
    if (opts && !(opts = bide__sized_in(opts, size, &room, sizeof room)))
        return BIDE_ESIZE;
    if (bide__table_find(&multi->calls, easy))
        return BIDE_ESTATE;
    struct bide__multi_call *mc = calloc(1, sizeof *mc);
    if (!mc)
        return BIDE_ENOMEM;
    mc->multi = multi;
    mc->done = done;
    mc->ctx = ctx;
    mc->base.easy = easy;
    if (!bide__table_add(&multi->calls, mc)) {
        free(mc);
        return BIDE_ENOMEM;
    }
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &mc->private_was);
    if (opts)
        mc->opts = *opts;
    bide__curl_begin(&mc->base, dep, easy, &mc->opts, bide_now_ns());
    if (mc->base.policy->hedge.max != 0)
        mc->base.wake = wake; /* else no other transfer of it is running */
    if (mc->base.opts->cancel)
        multi->n_cancellable++;
    soon(mc);
    return 0;
}

int bide_curl_multi_cancel(bide_curl_multi *multi, CURL *easy)
{
    if (!multi || !easy)
        return BIDE_EINVAL;
    struct bide__multi_call *mc = bide__table_find(&multi->calls, easy);
    if (!mc)
        return BIDE_ESTATE;
    bide__curl_give_up(&mc->base);
    soon(mc);
    return 0;
}

/* ===== an iteration of the event loop ===== */

/* Cancelling from another thread only sets a word, so those words are
 * polled. */
enum { LOOK_NS = 10 * 1000 * 1000, LOOK_AT_ONCE = 1000 };

static void look_for_cancelled(bide_curl_multi *m, int64_t now)
{
    if (m->n_cancellable == 0 || now < m->look_ns)
        return;
    for (size_t i = 0; i < m->calls.n_slots; i++)
        for (struct bide__multi_call *mc = m->calls.slots[i]; mc;
             mc = mc->chain)
            if (bide_cancelled(mc->base.opts->cancel))
                soon(mc);
    m->look_ns = now + LOOK_NS * (int64_t)(1 + m->n_cancellable / LOOK_AT_ONCE);
}

static void take_ended(bide_curl_multi *m)
{
    CURLMsg *msg;
    int left;
    while ((msg = curl_multi_info_read(m->curl, &left)))
        if (msg->msg == CURLMSG_DONE)
            bide__multi_ended(m, msg->easy_handle, msg->data.result);
}

static void take_due(bide_curl_multi *m, int64_t now)
{
    struct bide__timer *t;
    while ((t = bide__wheel_expired(&m->wheel, now)))
        bide__multi_step(bide__container_of(t, struct bide__multi_call, timer),
                         now);
}

void bide_curl_multi_socket(bide_curl_multi *multi, curl_socket_t socket,
                            int events)
{
    int running;
    curl_multi_socket_action(multi->curl, socket, events, &running);
    take_ended(multi);
}

void bide_curl_multi_timeout(bide_curl_multi *multi)
{
    int64_t now = bide_now_ns();
    look_for_cancelled(multi, now);
    take_due(multi, now);
    if (bide_now_ns() >= multi->curl_ns) {
        multi->curl_ns = BIDE_FOREVER; /* libcurl sets it if it wants another */
        bide_curl_multi_socket(multi, CURL_SOCKET_TIMEOUT, 0);
    }
}

int64_t bide_curl_multi_next(const bide_curl_multi *multi)
{
    int64_t next = bide__wheel_next(&multi->wheel);
    if (multi->curl_ns < next)
        next = multi->curl_ns;
    if (multi->n_cancellable != 0 && multi->look_ns < next)
        next = multi->look_ns;
    return next;
}

void bide_curl_multi_watch(bide_curl_multi *multi,
                           void (*watch)(void *ctx, curl_socket_t socket,
                                         int what),
                           void *ctx)
{
    multi->watch = watch ? watch : bide__loop_watch;
    multi->watch_ctx = watch ? ctx : multi;
}

CURLM *bide_curl_multi_handle(bide_curl_multi *multi)
{
    return multi->curl;
}
