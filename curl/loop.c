/* The built-in event loop: epoll around the multi driver. */
#include <limits.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "curl/multi.h"

enum { BATCH = 256 };

void bide__loop_watch(void *multi, curl_socket_t socket, int what)
{
    bide_curl_multi *m = multi;
    struct epoll_event e = { .data.fd = socket };
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(m->epoll, EPOLL_CTL_DEL, socket, &e);
        return;
    }
    e.events = (uint32_t)((what & CURL_POLL_IN ? EPOLLIN : 0) |
                          (what & CURL_POLL_OUT ? EPOLLOUT : 0));
    /* libcurl does not say whether the socket is already registered. */
    if (epoll_ctl(m->epoll, EPOLL_CTL_MOD, socket, &e) < 0)
        epoll_ctl(m->epoll, EPOLL_CTL_ADD, socket, &e);
}

static int events_of(uint32_t e)
{
    return (e & EPOLLIN ? CURL_CSELECT_IN : 0) |
           (e & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
           (e & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
}

/* Rounded up: waking early would mean spinning. */
static int wait_ms(int64_t until_ns)
{
    int64_t now = bide_now_ns();
    if (until_ns == BIDE_FOREVER)
        return -1;
    if (until_ns <= now)
        return 0;
    int64_t ms = (until_ns - now - 1) / BIDE_MILLISECOND + 1;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

static void turn(bide_curl_multi *m, int64_t until_ns)
{
    struct epoll_event ready[BATCH];
    int64_t next = bide_curl_multi_next(m);
    int n = epoll_wait(m->epoll, ready, BATCH,
                       wait_ms(next < until_ns ? next : until_ns));
    for (int i = 0; i < n; i++)
        bide_curl_multi_socket(m, ready[i].data.fd,
                               events_of(ready[i].events));
    bide_curl_multi_timeout(m);
}

size_t bide_curl_multi_run(bide_curl_multi *multi, int64_t until_ns)
{
    while (multi->calls.n != 0) {
        turn(multi, until_ns);
        if (until_ns != BIDE_FOREVER && bide_now_ns() >= until_ns)
            break;
    }
    return multi->calls.n;
}
