/* bide/curl.h: libcurl with a policy behind it (libbide-curl).
 *
 *     CURLcode rc = bide_curl_perform(dep, easy, NULL);  // curl_easy_perform
 *
 * That line is all that changes in a program; its headers, callbacks, timeouts
 * and bodies stay as they are. Retries, waits, hints, budgets, breaker and
 * hedging follow the policy of `dep`. A request is retried only if that does no
 * harm: bide looks at the method, at whether the request had been sent, at the
 * Idempotency-Key, and at whether the body can be sent again.
 *
 * bide makes the attempts with functions of its own in the place of the
 * application's, which get the response of the last attempt, and of that only:
 * held back until it is known to be the last. A read function is called again
 * from the beginning if there is a seek function (or if libcurl reads a file);
 * otherwise a request whose body was begun is not sent again. Of the timeouts,
 * the policy's and the application's, the shorter one counts, for each attempt.
 * The progress function, and all others, are libcurl's business as always.
 * Afterwards the handle is as it was.
 *
 * All of this needs to know what was set on the handle, and libcurl cannot be
 * asked: bide/curl_record.h, included here, records it. Include this header in
 * every file that sets options. A handle that is not recorded loses nothing,
 * but gains less: its functions and headers are left alone, so that
 *
 *   - a failed attempt is retried only if no part of its body has reached the
 *     write function, and the header function sees the head of each attempt (as
 *     it does with redirects);
 *   - no X-Bide-Attempt, no X-Bide-Timeout-Ms and no generated Idempotency-Key
 *     are sent;
 *   - a request whose body was begun is not sent again, and nothing is hedged;
 *   - a timeout, and a CURLOPT_PREREQFUNCTION, are replaced.
 *
 * What opts names (headers, write, header) takes the place of the handle's, and
 * is known in either case; opts.plain_handle says that there is no more.
 *
 * libcurl has a retry of its own: if a keep-alive connection breaks before the
 * response, it sends the request again, even a POST. bide prevents that: such a
 * break is an outcome like any other (CURLE_GOT_NOTHING), and the policy
 * decides. Requests that libcurl sends after a response are part of the
 * attempt: a redirect, a login, a request without an Expect that failed. A
 * proxy that refuses a tunnel is judged by its response, and the request counts
 * as unsent. */
#ifndef BIDE_CURL_H
#define BIDE_CURL_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call.h"
#include "curl_record.h"
#include "dep.h"
#include "run.h"

BIDE_BEGIN_DECLS

/* How a call ended. */
typedef struct bide_curl_result {
    CURLcode code;          /* of the last attempt; CURLE_OK also for a 503 */
    long status;            /* HTTP status of the last attempt, or 0 */
    bide_reason reason;     /* success, or why there was no further attempt */
    uint32_t attempts;      /* including op.attempts_made */
    bide_outcome last;      /* of the last attempt; zero if there was none */
    char key[37];           /* the key that bide generated, or ""; it is sent as
                               Idempotency-Key: "KEY", quotes included */
    uint64_t _room[4];
} bide_curl_result;

/* Whom to tell who owns the retries and how much time is left (X-Bide-Attempt,
 * X-Bide-Timeout-Ms, and bide's members of baggage; see bide/claim.h). A call to
 * a third party has no use for it. */
typedef enum bide_curl_tell {
    BIDE_CURL_TELL_ALL,
    BIDE_CURL_TELL_PRIVATE, /* loopback, private and link-local addresses, and
                               Unix sockets. Through an HTTP proxy, the address
                               is that of the proxy */
    BIDE_CURL_TELL_NOBODY
} bide_curl_tell;

/* All zero, or NULL, is a plain request. Strings, lists and contexts must live
 * until the call has ended. */
typedef struct bide_curl_opts {
    bide_op op;             /* deadline, upstream attempt, rng; bide determines
                               whether it is idempotent and has a key, unless
                               that is set here */
    const char *method;     /* of the request; NULL: bide determines it as soon
                               as the first attempt has a connection. A hedge
                               before that requires it to be set */
    struct curl_slist *headers; /* of the request, instead of the handle's; on
                               a handle that is not recorded they stay as its
                               CURLOPT_HTTPHEADER. A claim among them (baggage or
                               X-Bide-* that the application passes on from a
                               request that it serves) is that of a layer above,
                               and counts like op.upstream_attempt */

    /* The response: of the last attempt only, even if it is a failure. The body
     * is held back until the attempt has succeeded or no other can follow it,
     * up to `hold_max` bytes (0: 1 MiB). A good response longer than that is
     * streamed. If it then breaks off, it is retried only if `restart` is set
     * and agrees (true) to drop what was written; it may set options of the
     * handle, such as a range to continue from. The response of a failure that
     * may be retried is cut off at hold_max. After a cancel nothing more is
     * written. Pausing is not supported. */
    size_t (*write)(char *data, size_t size, size_t n, void *ctx);
    void *write_ctx;        /* write NULL: a FILE *, as with libcurl; both NULL:
                               as the handle has it */
    size_t hold_max;
    bool (*restart)(void *ctx, void *write_ctx);
    size_t (*header)(char *data, size_t size, size_t n, void *ctx); /* NULL: as
                               the handle has it; at most 64 KiB of header */
    void *header_ctx;

    /* The request's body, unless it is CURLOPT_POSTFIELDS or MIMEPOST, which
     * libcurl keeps and can always send again. A body that is read by a function
     * without a CURLOPT_SEEKFUNCTION, or on a handle that is not recorded, can
     * be sent again only with `rewind`. (On a plain_handle it needs one of
     * these: libcurl cannot be asked whether a body is read.) */
    bool one_shot_body;     /* it cannot be sent again once it was begun */
    bool (*rewind)(void *ctx); /* called after a failed attempt, to restart the
                               body; false: not possible. Such a call is not
                               hedged: it has only one body to read */
    void *rewind_ctx;

    bide_cancel *cancel;
    bide_decision_fn on_decision;
    void *ctx;              /* of restart and on_decision */
    bide_curl_result *result; /* filled in at the end; or NULL */
    bide_curl_tell tell;    /* all */

    bool plain_handle;      /* on the handle itself no headers, no write, header
                               or prereq function, none of their data and no
                               timeout were set: they may be used although it is
                               not recorded. Afterwards they are at libcurl's
                               defaults, and CURLOPT_HTTPHEADER is `headers` */
} bide_curl_opts;

/* Performs a transfer under the policy; blocks like curl_easy_perform().
 * Returns the code of the last attempt; CURLE_ABORTED_BY_CALLBACK if it was
 * cancelled, or if bide refused to make any attempt (see result->reason);
 * CURLE_BAD_FUNCTION_ARGUMENT without dep or easy, or if opts has members that
 * this version does not know.
 *
 * Under a policy that hedges, or with opts.cancel, the attempts run on a
 * temporary multi handle. Connections are then reused between attempts, but
 * between calls only through a CURLSH, or in a bide_curl_multi. If a hedge won,
 * the CURLINFO_... of `easy` are those of the loser. */
BIDE_API CURLcode bide_curl_perform_sized(bide_dep *dep, CURL *easy,
                                          const bide_curl_opts *opts,
                                          size_t size);
static inline CURLcode bide_curl_perform(bide_dep *dep, CURL *easy,
                                         const bide_curl_opts *opts)
{
    return bide_curl_perform_sized(dep, easy, opts, sizeof *opts);
}

/* ===== many at once ===== */

/* Drives any number of calls over one libcurl multi handle. While a call waits
 * it holds no connection and no thread, only a timer. Threads: owned. */
typedef struct bide_curl_multi bide_curl_multi;

/* Called once for each call that was added, when it has ended; the easy handle
 * is the caller's again. Called from inside bide_curl_multi_run(), _socket(),
 * _timeout() or _free(), never from _add() or _cancel(). May add further calls
 * (not in _free), and cancel others. */
typedef void (*bide_curl_done_fn)(void *ctx, CURL *easy,
                                  const bide_curl_result *result);

/* BIDE_EINVAL, BIDE_ENOMEM. */
BIDE_API int bide_curl_multi_new(bide_curl_multi **ret_multi);

/* Cancels all calls, calling `done` for each, and frees the driver. NULL is
 * fine. Not from inside a callback. */
BIDE_API void bide_curl_multi_free(bide_curl_multi *multi);

/* Adds a call; opts is copied, NULL is all zero. `done` may be NULL.
 * BIDE_EINVAL; BIDE_ESTATE if the handle is already in a call here;
 * BIDE_ENOMEM, BIDE_ESIZE: then `done` is not called. */
BIDE_API int bide_curl_multi_add_sized(bide_curl_multi *multi, bide_dep *dep,
                                       CURL *easy, const bide_curl_opts *opts,
                                       size_t size, bide_curl_done_fn done,
                                       void *ctx);
static inline int bide_curl_multi_add(bide_curl_multi *multi, bide_dep *dep,
                                      CURL *easy, const bide_curl_opts *opts,
                                      bide_curl_done_fn done, void *ctx)
{
    return bide_curl_multi_add_sized(multi, dep, easy, opts, sizeof *opts, done,
                                     ctx);
}

/* Cancels a call; `done` will be called with `cancelled`. BIDE_ESTATE if the
 * handle is not in use. (opts.cancel does the same from any thread, but is
 * polled only every 10 ms, and less often if there are more than a thousand
 * such calls.) */
BIDE_API int bide_curl_multi_cancel(bide_curl_multi *multi, CURL *easy);

/* Runs until every call has ended, or until `until_ns` (BIDE_FOREVER); returns
 * the number of calls that have not ended. */
BIDE_API size_t bide_curl_multi_run(bide_curl_multi *multi, int64_t until_ns);

/* For the application's own event loop, instead of _run(): watch the sockets
 * that `watch` asks for (its `what` is libcurl's CURL_POLL_...), call _socket()
 * when a socket is ready (`events` is libcurl's CURL_CSELECT_...), and
 * _timeout() at the time that _next() returns, which any call of a function
 * here may change. Set it before the first call is added. */
BIDE_API void bide_curl_multi_watch(
    bide_curl_multi *multi,
    void (*watch)(void *ctx, curl_socket_t socket, int what), void *ctx);
BIDE_API void bide_curl_multi_socket(bide_curl_multi *multi,
                                     curl_socket_t socket, int events);
BIDE_API void bide_curl_multi_timeout(bide_curl_multi *multi);
BIDE_API int64_t bide_curl_multi_next(const bide_curl_multi *multi);

/* The multi handle, to set options on (connection limits, multiplexing). Its
 * socket and timer functions are bide's. */
BIDE_API CURLM *bide_curl_multi_handle(bide_curl_multi *multi);

/* Classifies a finished transfer, for your own loops: CURLcode, status, hints
 * in the header fields, and whether the request can have been sent. dep NULL:
 * uses the table of defaults. */
BIDE_API bide_outcome bide_curl_classify(const bide_dep *dep, CURL *easy,
                                         CURLcode code);

BIDE_END_DECLS
#endif
