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
    if (a->upload)
        return "PUT";
    return (a->data.given && !a->get) || a->forms ? "POST" : "GET";
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

/* An error is never appended to a file. */
static bool leaves_file_alone(const struct fetch_transfer *t)
{
    return t->sink.kind == SINK_APPEND && t->resume.head.status >= 400;
}

/* -i: the header, before the first byte of the body. */
static bool put_head(struct fetch_transfer *t)
{
    t->head_written = true;
    if (t->head.failed) {
        t->os_error = ENOMEM;
        return false;
    }
    return put(t, t->head.data, t->head.len) == t->head.len;
}

/* How many of its bytes are there already; -1: it is not wanted. */
static int begin_body(struct fetch_transfer *t, char first)
{
    const struct fetch_args *a = t->all->args;
    int skip = 0;

    if (a->continue_at > 0 && t->resume.head.status < 300 &&
        t->resume.head.status != 206) {
        t->range_refused = true;
        return -1;
    }
    if (a->continue_at <= 0)
        skip = fetch_resume_begin(&t->resume, &t->sink, first);
    if (skip >= 0 && a->include && !put_head(t))
        return -1;
    return skip;
}

static size_t on_write(char *data, size_t size, size_t n, void *transfer)
{
    struct fetch_transfer *t = transfer;
    size_t len = size * n;
    int skip = 0;

    if (t->unwanted || len == 0 || leaves_file_alone(t))
        return len;
    if (!t->body_begun)
        skip = begin_body(t, data[0]);
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
    bide__out_bytes(&t->head, data, len);
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
    bide__out_clear(&t->head);
    t->head_written = false;
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
           (error && (t->sink.replaces || t->sink.kind == SINK_APPEND)) ||
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

    if (d->action == BIDE_TRY) {
        t->attempt = d->attempt;
        t->error[0] = '\0';
    }
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
    } else if (last && fetch_wait_wanted(t, d, now)) {
        fetch_say_waits(t, last);
    }
}

/* ===== the end ===== */

static int exit_code(const struct fetch_transfer *t)
{
    const bide_curl_result *r = &t->result;

    if (r->reason == BIDE_BECAUSE_DEADLINE && t->all->args->max_time)
        return (int)CURLE_OPERATION_TIMEDOUT;
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

/* -J: the name that the server gave, if it is one. */
static bool take_server_name(struct fetch_transfer *t)
{
    const char *name = t->resume.head.filename;

    if (!t->all->args->header_name || !t->all->args->remote_name ||
        t->sink.kind != SINK_FILE || !*name)
        return true;
    return fetch_sink_rename(&t->sink, name) &&
           (t->saved_as = strdup(t->sink.name)) != NULL;
}

static int64_t remote_time(const struct fetch_transfer *t)
{
    curl_off_t time_s = -1;

    if (t->all->args->remote_time)
        curl_easy_getinfo(t->easy, CURLINFO_FILETIME_T, &time_s);
    return (int64_t)time_s;
}

static void settle_sink(struct fetch_transfer *t)
{
    bool whole = is_whole(t);

    t->kept_old = t->result.status >= 400 && t->output && t->sink.replaces;
    if (whole && t->all->args->include && !t->head_written && !put_head(t))
        whole = false;
    if (!whole) {
        fetch_sink_drop(&t->sink);
    } else if (t->sink.kind != SINK_SPOOL &&
               (!take_server_name(t) ||
                !fetch_sink_keep(&t->sink, remote_time(t)))) {
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
    bide__out_clear(&t->head);
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
    if (t->range_refused)
        t->result.code = CURLE_RANGE_ERROR;
    if (is_whole(t) && !t->all->args->head && t->all->args->continue_at <= 0 &&
        !leaves_file_alone(t) &&
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
        .hold_max = (t->resume.possible || t->all->args->continue_at > 0) &&
                            t->sink.kind != SINK_STREAM
                        ? HOLD_FILE
                        : 0,
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
        t->result.code = t->all->args->forms && t->easy && !t->form
                             ? CURLE_READ_ERROR
                             : CURLE_OUT_OF_MEMORY;
        return false;
    }
    if (t->all->args->continue_at == CONTINUE_FILE)
        fetch_resume_continue(&t->resume, &t->sink, t->easy);
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
    const struct fetch_args *a = t->all->args;
    const struct fetch_place place = {
        .name = t->output,
        .spool = t->all->n > 1,
        .append = a->continue_at != CONTINUE_NOT,
        .create_dirs = a->create_dirs,
    };

    t->began_ns = bide_now_ns();
    t->state = FETCH_RUNNING;
    if (!fetch_sink_open(&t->sink, &place)) {
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
    curl_mime_free(t->form);
    bide__out_done(&t->head);
    free(t->saved_as);
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
