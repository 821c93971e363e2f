/* One URL, from its first attempt to the finished file. */
#include "cmd/fetch/transfer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/output.h"
#include "cmd/fetch/args.h"
#include "cmd/fetch/bar.h"
#include "cmd/fetch/fetch.h"
#include "cmd/fetch/resume.h"
#include "cmd/fetch/sink.h"
#include "cmd/fetch/progress.h"

/* How much of a response the driver holds back; it reads problem details there.
 * The more it holds, the more is fetched twice after an interruption. For a
 * stream, which cannot be undone, the driver's larger default is better; and so
 * it is for a request with a hedge, which could not win once data is passed
 * on. */
enum { HOLD_FILE = 64 * 1024 };

const char *fetch_method(const struct fetch_args *a)
{
    if (a->method)
        return a->method;
    if (a->head)
        return "HEAD";
    return a->upload ? "PUT" : a->data.given ? "POST" : "GET";
}

/* ===== responses ===== */

static size_t put(struct fetch_transfer *t, const char *data, size_t len)
{
    if (len > 0 && !fetch_sink_write(&t->sink, data, len)) {
        t->os_error = errno;
        return 0;
    }
    return len;
}

static size_t on_write(char *data, size_t size, size_t n, void *transfer)
{
    struct fetch_transfer *t = transfer;
    size_t len = size * n;
    int skip = 0;

    if (t->unwanted || len == 0)
        return len;
    if (!t->body_begun)
        skip = fetch_resume_begin(&t->resume, &t->sink, data[0]);
    if (skip < 0)
        return 0;
    t->body_begun = true;
    return put(t, data + skip, len - (size_t)skip) == len - (size_t)skip ? len
                                                                         : 0;
}

static size_t on_header(char *data, size_t size, size_t n, void *transfer)
{
    struct fetch_transfer *t = transfer;
    size_t len = size * n;

    fetch_head_line(&t->resume.head, data, len);
    if (len > 5 && memcmp(data, "HTTP/", 5) == 0)
        t->body_begun = false;
    if (t->all->args->head && !t->unwanted)
        return put(t, data, len) == len ? len : 0;
    return len;
}

/* A response was interrupted after data was passed on, and is retried. */
static bool on_restart(void *transfer, void *same)
{
    struct fetch_transfer *t = transfer;

    (void)same;
    return fetch_resume_prepare(&t->resume, &t->sink, t->easy);
}

static int on_progress(void *transfer, curl_off_t total, curl_off_t now,
                       curl_off_t up_total, curl_off_t up_now)
{
    struct fetch_transfer *t = transfer;
    off_t before = t->resume.asked ? t->resume.from : 0;

    t->now = (off_t)(now + up_now) + (now ? before : 0);
    t->total = (off_t)(total + up_total) + (total ? before : 0);
    return 0;
}

/* ===== decisions ===== */

/* Discards an interrupted response, an error with -f, and anything after the
 * first part of another response. */
static bool is_unwanted(const struct fetch_transfer *t,
                        const bide_outcome *last)
{
    const struct fetch_args *a = t->all->args;
    bool broken = last->fault != BIDE_FAULT_NONE;
    bool error = last->status >= 400;

    return broken || (error && a->fail && !a->head) ||
           (error && t->sink.kind == SINK_STREAM && t->sink.size > 0);
}

/* A stream that cannot be resumed ends as if it had been cancelled. */
static bide_reason true_reason(const struct fetch_transfer *t,
                               bide_reason reason)
{
    return reason == BIDE_BECAUSE_CANCELLED && !t->os_error &&
                   t->sink.kind == SINK_STREAM && t->sink.size > 0
               ? BIDE_BECAUSE_NOT_REPLAYABLE
               : reason;
}

static void on_decision(void *transfer, const bide_decision *d,
                        const bide_outcome *last, int64_t now)
{
    struct fetch_transfer *t = transfer;

    if (d->action == BIDE_TRY)
        t->attempt = d->attempt;
    t->state = d->action == BIDE_WAIT ? FETCH_WAITING : FETCH_RUNNING;
    t->wait_until_ns = d->at_ns;
    t->over = d->action == BIDE_DONE;
    t->unwanted = t->over && last && is_unwanted(t, last);
    if (last)
        t->result.last = *last;
    if (t->all->args->explain) {
        bide_decision told = *d;
        told.reason = true_reason(t, d->reason);
        fetch_explain(t, &told, last, now);
    }
}

/* ===== the end ===== */

static int exit_code(const struct fetch_transfer *t)
{
    const bide_curl_result *r = &t->result;

    if (r->reason == BIDE_BECAUSE_DEADLINE || bide_reason_is_refusal(r->reason))
        return EXIT_REFUSED;
    if (r->code != CURLE_OK)
        return (int)r->code;
    return r->status >= 400 ? EXIT_HTTP : EXIT_OK;
}

/* A response may be complete, and still not wanted. */
static bool is_whole(const struct fetch_transfer *t)
{
    return t->result.code == CURLE_OK && t->result.attempts > 0 &&
           !t->unwanted;
}

static void settle_sink(struct fetch_transfer *t)
{
    if (!is_whole(t)) {
        fetch_sink_drop(&t->sink);
    } else if (t->sink.kind != SINK_SPOOL && !fetch_sink_keep(&t->sink)) {
        t->os_error = errno;
        t->result.code = CURLE_WRITE_ERROR;
    }
}

static void end(struct fetch_transfer *t)
{
    t->took_ns = bide_now_ns() - t->began_ns;
    t->state = FETCH_ENDED;
    t->now = t->sink.size;
    settle_sink(t);
    t->exit = exit_code(t);
    if (t->exit != EXIT_OK)
        fetch_print_failure(t);
    else
        fetch_bar_keep(t);
    fetch_ended(t);
}

static bool add(struct fetch_transfer *t);

/* The server's rest does not match what is already there. */
static bool start_over(struct fetch_transfer *t)
{
    if (t->all->quiet || !fetch_sink_empty(&t->sink))
        return false;
    t->resume.distrusted = false;
    t->resume.possible = false;
    t->resume.saved = 0;
    fetch_resume_cancel(&t->resume, t->easy);
    if (t->all->args->explain)
        fetch_explain_start_over(t);
    return add(t);
}

static void on_done(void *transfer, CURL *easy, const bide_curl_result *result)
{
    struct fetch_transfer *t = transfer;
    bool broken_stream = t->resume.asked && t->sink.kind == SINK_STREAM;

    (void)easy;
    t->result = *result;
    t->result.reason = true_reason(t, result->reason);
    if (is_whole(t) && !t->all->args->head &&
        !fetch_resume_end(&t->resume, &t->sink, t->body_begun))
        t->result.code = CURLE_WRITE_ERROR;
    if (t->resume.distrusted && start_over(t))
        return;
    if (t->result.code == CURLE_WRITE_ERROR && !t->os_error && broken_stream)
        t->result.code = CURLE_PARTIAL_FILE;
    end(t);
}

/* ===== the beginning ===== */

static bool add(struct fetch_transfer *t)
{
    bide_curl_opts o = {
        .op = fetch_op(t),
        .tell = fetch_tell(t->all->args),
        .method = fetch_method(t->all->args),
        .headers = t->headers,
        .plain_handle = true,
        .write = on_write,
        .write_ctx = t,
        .hold_max = t->resume.possible && t->sink.kind != SINK_STREAM
                        ? HOLD_FILE : 0,
        .restart = on_restart,
        .header = on_header,
        .header_ctx = t,
        .on_decision = on_decision,
        .ctx = t,
    };

    if (t->all->args->upload) {
        o.rewind = fetch_upload_rewind;
        o.rewind_ctx = &t->upload;
    }
    return bide_curl_multi_add(t->all->multi, t->dep, t->easy, &o, on_done,
                               t) == 0;
}

static bool prepare(struct fetch_transfer *t)
{
    if (!fetch_request_make(t)) {
        t->result.code = CURLE_OUT_OF_MEMORY;
        return false;
    }
    if (t->all->bar) {
        curl_easy_setopt(t->easy, CURLOPT_NOPROGRESS, 0L);
        curl_easy_setopt(t->easy, CURLOPT_XFERINFOFUNCTION, on_progress);
        curl_easy_setopt(t->easy, CURLOPT_XFERINFODATA, t);
    }
    if (!t->dep)
        t->result.code = CURLE_URL_MALFORMAT;
    else if (!add(t))
        t->result.code = CURLE_OUT_OF_MEMORY;
    return t->result.code == CURLE_OK;
}

bool fetch_transfer_begin(struct fetch_transfer *t)
{
    t->began_ns = bide_now_ns();
    t->state = FETCH_RUNNING;
    if (!fetch_sink_open(&t->sink, t->output, t->all->n > 1)) {
        t->os_error = errno;
        t->result.code = CURLE_WRITE_ERROR;
    } else if (prepare(t)) {
        return true;
    }
    t->result.reason = BIDE_BECAUSE_PERMANENT;
    end(t);
    return false;
}

void fetch_transfer_done(struct fetch_transfer *t)
{
    curl_easy_cleanup(t->easy);
    if (t->resume.node) { /* it is the last, and libcurl must not free it */
        struct curl_slist **end = &t->headers;
        while (*end && *end != t->resume.node)
            end = &(*end)->next;
        *end = NULL;
        free(t->resume.node);
    }
    curl_slist_free_all(t->headers);
    fetch_sink_drop(&t->sink);
    free(t->own_url);
    free(t->own_output);
}
