/* The internals of the multi driver.
 *
 * A call is in exactly one of these states: it has transfers running (they are
 * in the libcurl multi handle), or it waits (its timer is set, nothing else).
 * Every decision is made in step(), which only the timer wheel or the end of a
 * transfer calls: to have a call looked at, set its timer to now. So no
 * callback of libcurl ever calls back into libcurl. */
#ifndef BIDE_CURL_MULTI_H
#define BIDE_CURL_MULTI_H

#include "curl/table.h"
#include "curl/transfer.h"
#include "run/wheel.h"

struct bide__multi_call {
    struct bide__curl_call base; /* first */
    bide_curl_opts opts;
    bide_curl_multi *multi;
    struct bide__multi_call *chain;             /* in the table */
    struct bide__multi_call *before, *after;    /* in the queue for a place */
    struct bide__transfer *running;
    char *private_was;      /* CURLOPT_PRIVATE, as the application set it */
    struct bide__timer timer;
    bide_curl_done_fn done;
    void *ctx;
    bool queued;
};

struct bide_curl_multi {
    CURLM *curl;
    struct bide__wheel wheel;
    struct bide__table calls;
    struct bide__multi_call *first, *last;      /* queued for a place */
    size_t n_queued;
    size_t n_cancellable;   /* calls with an opts.cancel ... */
    int64_t look_ns;        /* ... which are polled at this time */
    int64_t curl_ns;        /* when libcurl's timeout is due; FOREVER: never */
    void (*watch)(void *ctx, curl_socket_t socket, int what);
    void *watch_ctx;
    int epoll;              /* of the built-in loop */
};

/* ===== multi_call.c ===== */

/* Decides what a call does next, and does it. May end the call, and free it. */
void bide__multi_step(struct bide__multi_call *mc, int64_t now);

/* A libcurl transfer has ended. */
void bide__multi_ended(bide_curl_multi *m, CURL *easy, CURLcode code);

/* Ends a call at once, as cancelled. */
void bide__multi_abandon(struct bide__multi_call *mc, int64_t now);

/* ===== loop.c ===== */

/* The watch function of the built-in loop. */
void bide__loop_watch(void *multi, curl_socket_t socket, int what);

#endif
