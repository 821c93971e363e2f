/* What machines are told: one JSON object a line for each decision. A line is
 * one write, so that several invocations may log to one file. Nothing in it
 * needs quoting: keys, numbers, and names of our own. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/run/cmd.h"

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

struct line {
    char text[512];
    size_t len;
};

static void put(struct line *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put(struct line *l, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(l->text + l->len, sizeof l->text - l->len, format, args);
    va_end(args);
    if (n > 0 && (size_t)n < sizeof l->text - l->len)
        l->len += (size_t)n;
}

static double ms(int64_t ns)
{
    return (double)ns / 1e6;
}

/* What the last attempt came to, or nulls. */
static void put_ending(struct line *l, const struct run *r)
{
    char name[16];

    if (!r->ended) {
        put(l, ",\"class\":null,\"exit\":null,\"signal\":null,"
               "\"timed_out\":false,\"took_ms\":null");
        return;
    }
    put(l, ",\"class\":\"%s\"", bide_class_name(r->outcome.cls));
    if (r->last.how == ENDED_EXIT)
        put(l, ",\"exit\":%d", r->last.code);
    else
        put(l, ",\"exit\":null");
    if (r->last.signal)
        put(l, ",\"signal\":\"%s\"",
            run_signal_name(r->last.signal, name, sizeof name));
    else
        put(l, ",\"signal\":null");
    put(l, ",\"timed_out\":%s,\"took_ms\":%.3f",
        r->last.how == ENDED_TIMEOUT ? "true" : "false", ms(r->last.took_ns));
}

void log_decision(struct run *r, const bide_decision *d)
{
    static const char *const actions[] = { "try", "wait", "done" };
    struct line l = { .len = 0 };
    struct timespec t;

    if (r->log < 0)
        return;
    clock_gettime(CLOCK_REALTIME, &t);
    put(&l,
        "{\"t\":%lld.%03ld,\"event\":\"%s\",\"attempt\":%u,\"reason\":\"%s\"",
        (long long)t.tv_sec, t.tv_nsec / 1000000, actions[d->action],
        d->action == BIDE_TRY ? d->attempt : r->attempt,
        bide_reason_name(d->reason));
    if (d->action != BIDE_TRY)
        put_ending(&l, r);
    if (d->action == BIDE_WAIT)
        put(&l, ",\"wait_ms\":%.3f", ms(d->at_ns - r->now));
    if (d->action == BIDE_DONE)
        put(&l, ",\"total_ms\":%.3f", ms(r->now - r->began_ns));
    if (r->args->key)
        put(&l, ",\"key\":\"%s\"", r->args->key);
    put(&l, ",\"pid\":%ld}\n", (long)getpid());
    if (write(r->log, l.text, l.len) < 0)
        r->log = -1; /* a full disk is no reason to stop */
}
