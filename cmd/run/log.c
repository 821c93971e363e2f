/* What machines are told: one JSON object a line for each decision. A line is
 * one write, so that several invocations may log to one file. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/codes.h"
#include "base/json.h"
#include "cmd/common/files.h"
#include "cmd/common/output.h"
#include "cmd/run/cmd.h"
#include "cmd/run/progress.h"

/* A copy that the command does not get: the number is for us. */
static int open_descriptor(const char *text)
{
    int fd = strcmp(text, "-") == 0 ? STDOUT_FILENO : atoi(text);

    return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

int log_open(const char *where)
{
    if (strspn(where, "0123456789") == strlen(where) || strcmp(where, "-") == 0)
        return open_descriptor(where);
    return open(where, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

/* Three places behind the point, zeros too. */
static void put_ms(struct bide__json *j, const char *key, int64_t ns)
{
    char text[40];

    snprintf(text, sizeof text, "%.3f", (double)ns / 1e6);
    bide__json_raw(j, key, text);
}

static void put_now(struct bide__json *j)
{
    struct timespec t;
    char text[40];

    clock_gettime(CLOCK_REALTIME, &t);
    snprintf(text, sizeof text, "%lld.%03ld", (long long)t.tv_sec,
             t.tv_nsec / 1000000);
    bide__json_raw(j, "t", text);
}

/* What the last attempt came to, or nulls. */
static void put_ending(struct bide__json *j, const struct run *r)
{
    bool ended = r->ended;
    char name[16];

    bide__json_text(j, "class", ended ? bide_class_name(r->outcome.cls) : NULL);
    if (ended && r->last.how == ENDED_EXIT)
        bide__json_integer(j, "exit", r->last.code);
    else
        bide__json_null(j, "exit");
    bide__json_text(j, "signal",
                    ended && r->last.signal
                        ? bide__signal_name(r->last.signal, name, sizeof name)
                        : NULL);
    bide__json_flag(j, "timed_out", ended && r->last.how == ENDED_TIMEOUT);
    if (ended)
        put_ms(j, "took_ms", r->last.took_ns);
    else
        bide__json_null(j, "took_ms");
}

static void put_decision(struct bide__json *j, const struct run *r,
                         const bide_decision *d)
{
    static const char *const actions[] = { "try", "wait", "done" };

    bide__json_object(j, NULL);
    put_now(j);
    bide__json_text(j, "event", actions[d->action]);
    bide__json_count(j, "attempt",
                     d->action == BIDE_TRY ? d->attempt : r->attempt);
    bide__json_text(j, "reason", bide_reason_name(d->reason));
    if (d->action != BIDE_TRY)
        put_ending(j, r);
    if (d->action == BIDE_WAIT)
        put_ms(j, "wait_ms", d->at_ns - r->now);
    if (d->action == BIDE_DONE)
        put_ms(j, "total_ms", r->now - r->began_ns);
    if (r->args->key)
        bide__json_text(j, "key", r->args->key);
    bide__json_integer(j, "pid", getpid());
    bide__json_end(j);
    bide__json_done(j);
}

void log_decision(struct run *r, const bide_decision *d)
{
    struct bide__out line = { 0 };
    struct bide__json j;

    if (r->log < 0)
        return;
    bide__json_into(&j, &line);
    put_decision(&j, r, d);
    int err = line.failed ? ENOMEM : write_whole(r->log, line.data, line.len);
    if (err) { /* a full disk is no reason to stop */
        complain("run", "cannot write the log: %s", strerror(err));
        close(r->log);
        r->log = -1;
    }
    bide__out_done(&line);
}
