/* Messages on stderr: each decision, with --explain, and why a transfer
 * failed. */
#include "cmd/fetch/progress.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/people.h"
#include "cmd/common/output.h"
#include "cmd/fetch/args.h"
#include "cmd/fetch/bar.h"
#include "cmd/fetch/fetch.h"
#include "cmd/fetch/transfer.h"

/* ===== words ===== */

static const char *fault_text(bide_fault fault)
{
    switch (fault) {
    case BIDE_FAULT_DNS:
        return "name not resolved";
    case BIDE_FAULT_NO_HOST:
        return "no such host";
    case BIDE_FAULT_CONNECT:
        return "not connected";
    case BIDE_FAULT_RESET:
        return "connection broke";
    case BIDE_FAULT_TIMEOUT:
        return "timed out";
    case BIDE_FAULT_TLS:
        return "TLS failed";
    case BIDE_FAULT_URL:
        return "bad URL";
    case BIDE_FAULT_MALFORMED:
        return "not a valid answer";
    case BIDE_FAULT_LOCAL:
        return "out of sockets or memory";
    case BIDE_FAULT_CANCELLED:
        return "given up";
    default:
        return "failed";
    }
}

/* libcurl has no code of its own for a transfer that stalls. */
static bool has_stalled(const struct fetch_transfer *t)
{
    return strncmp(t->error, "Operation too slow", 18) == 0;
}

/* A response that was cut off after its status is described by both. */
const char *fetch_what(const struct fetch_transfer *t, const bide_outcome *last,
                       char *buffer, size_t size)
{
    const char *fault = last->fault == BIDE_FAULT_TIMEOUT && has_stalled(t)
                            ? "stalled"
                            : fault_text(last->fault);

    if (last->fault == BIDE_FAULT_NONE)
        snprintf(buffer, size, "%d", last->status);
    else if (last->status)
        snprintf(buffer, size, "%d, %s", last->status, fault);
    else
        snprintf(buffer, size, "%s", fault);
    return buffer;
}

/* The rule's own text is about the body of the request. */
static const char *why_no_more(const struct fetch_transfer *t,
                               bide_reason reason)
{
    if (reason == BIDE_BECAUSE_NOT_REPLAYABLE && t->sink.size > 0)
        return "what was written already cannot be taken back";
    return bide_reason_text(reason);
}

/* ===== --explain ===== */

static void say_outcome(const struct fetch_transfer *t,
                        const bide_outcome *last, char *text, size_t size)
{
    char what[64], hint[32] = "";

    fetch_what(t, last, what, sizeof what);
    if (last->hinted)
        bide__brief_duration(last->hint_ns, hint, sizeof hint);
    snprintf(text, size, "%s: %s%s%s%s", what, bide_class_name(last->cls),
             last->not_processed ? ", not sent" : "",
             last->hinted ? ", the server says " : "", hint);
}

static void say_decision(const struct fetch_transfer *t, const bide_decision *d,
                         int64_t now, char *text, size_t size)
{
    const bide_policy_conf *policy = bide_dep_policy(t->dep);
    char wait[32], from[48] = "";

    switch (d->action) {
    case BIDE_TRY:
        if (t->resume.asked)
            snprintf(from, sizeof from, ", from byte %lld",
                     (long long)t->resume.from);
        snprintf(text, size, "attempt %u of %u (%s)%s", d->attempt,
                 policy->attempts + policy->hedge.max,
                 bide_reason_name(d->reason), from);
        break;
    case BIDE_WAIT:
        bide__brief_duration(
            d->at_ns > now && d->at_ns != BIDE_FOREVER ? d->at_ns - now : 0,
            wait, sizeof wait);
        snprintf(text, size, "wait %s (%s: %s)", wait,
                 bide_reason_name(d->reason), bide_reason_text(d->reason));
        break;
    default:
        snprintf(text, size, "%s (%s: %s)",
                 d->reason == BIDE_BECAUSE_SUCCESS ? "done" : "stop",
                 bide_reason_name(d->reason), why_no_more(t, d->reason));
    }
}

static const char *colour_of(const struct paint *p, const bide_decision *d)
{
    if (d->action != BIDE_DONE)
        return d->action == BIDE_WAIT ? p->yellow : "";
    return d->reason == BIDE_BECAUSE_SUCCESS ? p->green : p->red;
}

static void print_line(const struct fetch_transfer *t, const char *mark,
                       const char *colour, const char *text)
{
    struct paint p = paint_for(stderr);
    int column = 2;

    if (t->all->n > 1)
        column += fprintf(stderr, "%s[%zu]%s ", p.dim, t->index + 1, p.plain) -
                  (int)(strlen(p.dim) + strlen(p.plain));
    fprintf(stderr, "%s%s ", colour, mark);
    bide__print_wrapped(stderr, text, column, column, terminal_width(stderr));
    fputs(p.plain, stderr);
}

void fetch_explain(struct fetch_transfer *t, const bide_decision *d,
                   const bide_outcome *last, int64_t now)
{
    struct paint p = paint_for(stderr);
    bool utf8 = use_utf8();
    char text[300];

    fetch_bar_clear(t->all);
    if (last && d->action != BIDE_TRY) {
        say_outcome(t, last, text, sizeof text);
        print_line(t, utf8 ? "←" : "<", "", text);
    }
    if (t->resume.distrusted)
        return; /* we did it ourselves; the outcome is printed next */
    say_decision(t, d, now, text, sizeof text);
    print_line(t, d->action == BIDE_TRY ? (utf8 ? "→" : ">") : " ",
               colour_of(&p, d), text);
}

void fetch_explain_start_over(struct fetch_transfer *t)
{
    struct paint p = paint_for(stderr);

    fetch_bar_clear(t->all);
    print_line(t, " ", p.yellow, "start over: the rest does not fit");
}

/* ===== a wait, without --explain ===== */

/* A second of silence is noticed. So is every wait for a server that accepts no
 * connections: it may become two minutes, where curl would have ended. */
bool fetch_wait_wanted(const struct fetch_transfer *t, const bide_decision *d,
                       int64_t now)
{
    const struct fetch_args *a = t->all->args;

    return d->action == BIDE_WAIT && !t->told_to_wait && !a->silent &&
           !a->json && !a->verbose && isatty(STDERR_FILENO) &&
           (d->reason == BIDE_BECAUSE_KNOCKING ||
            d->at_ns - now >= BIDE_SECOND);
}

void fetch_say_waits(struct fetch_transfer *t, const bide_outcome *last)
{
    char what[64], url[512];

    t->told_to_wait = true;
    fetch_bar_clear(t->all);
    public_url(url, sizeof url, t->url);
    fprintf(stderr, "bide fetch: %s: %s; trying again (--explain shows how)\n",
            url, fetch_what(t, last, what, sizeof what));
}

/* ===== failures ===== */

static void say_why(const struct fetch_transfer *t, char *text, size_t size)
{
    const bide_curl_result *r = &t->result;
    char what[64], stall[32];

    if (t->os_error)
        snprintf(text, size, "cannot write %s: %s",
                 t->saved_as ? t->saved_as
                 : t->output ? t->output
                             : "the output",
                 t->os_error == EBUSY ? "another bide is writing it"
                                      : strerror(t->os_error));
    else if (r->attempts > 0 && r->last.fault == BIDE_FAULT_NONE &&
             r->code == CURLE_RANGE_ERROR)
        snprintf(text, size, "the server sends all of it, not from byte %lld",
                 (long long)t->all->args->continue_at);
    else if (r->attempts > 0 && r->last.fault == BIDE_FAULT_NONE)
        snprintf(text, size, "the server answered %ld%s%s%s", r->status,
                 t->kept_old ? "; " : "", t->kept_old ? t->output : "",
                 t->kept_old ? " is as it was" : "");
    else if (r->attempts > 0 && has_stalled(t))
        snprintf(text, size, "stalled: nothing came for %s",
                 bide__brief_duration(t->all->args->stall_timeout_ns, stall,
                                      sizeof stall));
    else if (r->attempts > 0 && t->error[0] && r->code != CURLE_WRITE_ERROR)
        snprintf(text, size, "%s%s", t->error,
                 strstr(t->error, "wrong version number")
                     ? "; does that port speak http, not https?"
                     : "");
    else if (r->attempts > 0)
        snprintf(text, size, "%s", fetch_what(t, &r->last, what, sizeof what));
    else if (r->code == CURLE_ABORTED_BY_CALLBACK)
        snprintf(text, size, "not attempted");
    else
        snprintf(text, size, "%s", curl_easy_strerror(r->code));
}

/* "gave up after 4 attempts in 2.1s: no attempts are left (attempts)" */
static void say_reason(const struct fetch_transfer *t, char *text, size_t size)
{
    const bide_curl_result *r = &t->result;
    char took[32];

    if (r->attempts == 0)
        snprintf(text, size, "%s (%s)", why_no_more(t, r->reason),
                 bide_reason_name(r->reason));
    else
        snprintf(text, size, "gave up after %u attempt%s in %s: %s (%s)",
                 r->attempts, r->attempts == 1 ? "" : "s",
                 bide__brief_duration(t->took_ns, took, sizeof took),
                 why_no_more(t, r->reason), bide_reason_name(r->reason));
}

void fetch_print_failure(struct fetch_transfer *t)
{
    const struct fetch_args *a = t->all->args;
    const bide_curl_result *r = &t->result;
    char why[CURL_ERROR_SIZE + 64], reason[256];

    if ((a->silent && !a->show_error) || a->json || t->all->quiet ||
        t->os_error == EINTR) /* the user who interrupts knows why */
        return;
    fetch_bar_clear(t->all);
    say_why(t, why, sizeof why);
    complain("fetch", "%s: %s", t->url, why);
    if (t->os_error || r->reason == BIDE_BECAUSE_SUCCESS ||
        (r->attempts <= 1 && r->reason == BIDE_BECAUSE_PERMANENT))
        return; /* that is all there is to say */
    say_reason(t, reason, sizeof reason);
    fputs("  ", stderr);
    bide__print_wrapped(stderr, reason, 2, 2, terminal_width(stderr));
}
