/* What becomes of the output of attempts.
 *
 *     all      it is the command's own affair: it writes to our files. Only if
 *              there is an expression to match does it pass through here
 *     prefix   stderr passes with a prefix to each line; stdout is kept, and
 *              goes to stdout untouched if the attempt succeeds, else to stderr
 *              with the prefix
 *     last     both are kept until it is known that there is no further attempt
 *     success  both are kept until it is known that the attempt succeeded
 *
 * Kept output lies in one spool, cut into pieces in the order in which they
 * came, so that both streams come out as they would have been seen. */
#include "cmd/run/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/common/files.h"
#include "cmd/run/args.h"
#include "cmd/run/judge.h"

/* A pipe that is ready takes this much without making its writer wait. */
enum { READY_SIZE = 4096, TAIL_SIZE = 65536 };

struct piece {
    uint32_t stream;
    uint32_t len;
};

/* ===== the end of the output, for expressions ===== */

/* Each stream for itself: what one says in two pieces is not to be torn apart
 * by what the other says between them. An expression ends at NUL, so output
 * must not have any. */
static void match_output(struct stream *s, const char *data, size_t len)
{
    if (!s->tail)
        return;
    if (len > TAIL_SIZE) {
        data += len - TAIL_SIZE;
        len = TAIL_SIZE;
    }
    if (s->tail_len + len > 2 * TAIL_SIZE) {
        memmove(s->tail, s->tail + s->tail_len - TAIL_SIZE, TAIL_SIZE);
        s->tail_len = TAIL_SIZE;
    }
    for (size_t i = 0; i < len; i++)
        s->tail[s->tail_len++] = data[i] ? data[i] : ' ';
}

static bool stream_matches(const struct stream *s, const regex_t *compiled)
{
    const char *text = s->tail;

    if (s->tail_len > TAIL_SIZE)
        text += s->tail_len - TAIL_SIZE;
    s->tail[s->tail_len] = '\0';
    return regexec(compiled, text, 0, NULL, 0) == 0;
}

static bool matches(const struct output *o, const struct pattern *p)
{
    return p->given && (stream_matches(&o->stream[0], &p->compiled) ||
                        stream_matches(&o->stream[1], &p->compiled));
}

/* ===== one stream ===== */

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static bool passes(const struct output *o, int i)
{
    return o->args->output == OUTPUT_ALL ||
           (o->args->output == OUTPUT_PREFIX && i == 1);
}

/* Puts the prefix before each line; gives the length. `room` is enough. */
static size_t add_prefix(const struct output *o, struct stream *s, char *to,
                         const char *data, size_t len)
{
    size_t prefix = strlen(o->prefix), n = 0;

    for (size_t i = 0; i < len; i++) {
        if (!s->line_begun) {
            memcpy(to + n, o->prefix, prefix);
            n += prefix;
        }
        to[n++] = data[i];
        s->line_begun = data[i] != '\n';
    }
    return n;
}

static void keep(struct output *o, int i, const char *data, size_t len)
{
    struct piece piece = { (uint32_t)i, (uint32_t)len };
    int64_t before = o->kept.len;

    if (o->lost)
        return;
    errno = ENOSPC;
    if (!spool_add(&o->kept, &piece, sizeof piece))
        o->lost = errno;
    else if (!spool_add(&o->kept, data, len)) {
        o->lost = errno;
        o->kept.len = before; /* whole pieces only */
        if (o->kept.held > (size_t)before)
            o->kept.held = (size_t)before;
    }
}

static void take(struct output *o, int i)
{
    struct stream *s = &o->stream[i];
    bool prefixed = o->args->output == OUTPUT_PREFIX;
    char data[sizeof s->buffer];
    size_t room = sizeof data;
    ssize_t n;

    if (passes(o, i) && prefixed)
        room = sizeof s->buffer / (sizeof o->prefix + 1);
    n = read(s->from, data, room);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        close_end(&s->from);
        return;
    }
    match_output(s, data, (size_t)n);
    s->at = 0;
    if (!passes(o, i)) {
        keep(o, i, data, (size_t)n);
    } else if (s->to < 0) {
        s->len = 0; /* closed from the beginning: only looked at */
    } else if (prefixed) {
        s->len = add_prefix(o, s, s->buffer, data, (size_t)n);
    } else {
        memcpy(s->buffer, data, (size_t)n);
        s->len = (size_t)n;
    }
}

/* A reader that is gone is gone for the command too. A disk that is full is
 * told at the end. */
static void pass_on(struct output *o, struct stream *s)
{
    size_t len = s->len - s->at;
    ssize_t n;

    if (!s->is_file && len > READY_SIZE)
        len = READY_SIZE;
    n = write(s->to, s->buffer + s->at, len);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 0) {
        s->broken = true;
        if (errno != EPIPE && !o->failed)
            o->failed = errno;
        s->at = s->len = 0;
        close_end(&s->from);
        return;
    }
    s->at += (size_t)n;
    if (s->at == s->len)
        s->at = s->len = 0;
}

/* ===== an attempt ===== */

static bool was_closed(int fd)
{
    /* what hold_standard_files() has put there is marked */
    int flags = fcntl(fd, F_GETFD);
    return flags < 0 || (flags & FD_CLOEXEC);
}

int output_init(struct output *o, const struct run_args *args)
{
    o->args = args;
    o->watched = args->retry_if.given || args->stop_if.given;
    o->direct = args->output == OUTPUT_ALL && !o->watched;
    for (int i = 0; i < 2; i++) {
        struct stream *s = &o->stream[i];
        struct stat st;
        s->to = was_closed(i + 1) ? -1 : i + 1;
        s->from = s->from_child = -1;
        s->is_file = fstat(i + 1, &st) == 0 && S_ISREG(st.st_mode);
        if (o->watched && !(s->tail = malloc(2 * TAIL_SIZE + 1)))
            return ENOMEM;
    }
    return 0;
}

int output_begin(struct output *o, uint32_t attempt, uint32_t attempts)
{
    if (run_is_unlimited(attempts))
        snprintf(o->prefix, sizeof o->prefix, "[%u] ", attempt);
    else
        snprintf(o->prefix, sizeof o->prefix, "[%u/%u] ", attempt, attempts);
    if (o->direct)
        return 0;
    for (int i = 0; i < 2; i++) {
        int ends[2];
        o->stream[i].tail_len = 0;
        if (pipe2(ends, O_CLOEXEC) < 0)
            return errno;
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        o->stream[i].from = ends[0];
        o->stream[i].from_child = ends[1];
    }
    return 0;
}

void output_started(struct output *o)
{
    for (int i = 0; i < 2; i++)
        close_end(&o->stream[i].from_child);
}

int output_poll(struct output *o, struct pollfd *p)
{
    int n = 0;

    for (int i = 0; i < 2; i++) {
        struct stream *s = &o->stream[i];
        if (s->at < s->len)
            p[n++] = (struct pollfd){ s->to, POLLOUT, 0 };
        else if (s->from >= 0)
            p[n++] = (struct pollfd){ s->from, POLLIN, 0 };
    }
    return n;
}

void output_ready(struct output *o, const struct pollfd *p, int n)
{
    for (int i = 0; i < 2; i++) {
        struct stream *s = &o->stream[i];
        for (int k = 0; k < n; k++) {
            if (!p[k].revents)
                continue;
            if (s->at < s->len && p[k].fd == s->to)
                pass_on(o, s);
            else if (s->at == s->len && s->from >= 0 && p[k].fd == s->from)
                take(o, i);
        }
    }
}

bool output_open(const struct output *o)
{
    for (int i = 0; i < 2; i++)
        if (o->stream[i].from >= 0 || o->stream[i].at < o->stream[i].len)
            return true;
    return false;
}

void output_end(struct output *o, struct ending *e)
{
    output_started(o);
    for (int i = 0; i < 2; i++)
        close_end(&o->stream[i].from);
    if (o->watched) {
        e->retry_seen = matches(o, &o->args->retry_if);
        e->stop_seen = matches(o, &o->args->stop_if);
    }
}

/* ===== afterwards ===== */

/* Writes a piece to its own stream, or under the prefix to stderr. */
static int release(struct output *o, uint32_t i, const char *data, size_t len,
                   bool prefixed)
{
    struct stream *err = &o->stream[1];
    char text[65536];

    if (!prefixed)
        return o->stream[i].to < 0 ? 0 : write_whole(o->stream[i].to, data, len);
    len = add_prefix(o, err, text, data, len);
    return err->to < 0 ? 0 : write_whole(err->to, text, len);
}

static int release_all(struct output *o, bool prefixed)
{
    char data[65536];
    size_t most = sizeof data / (sizeof o->prefix + 1);
    int64_t at = 0;
    int rc = 0;

    while (rc == 0 && at < o->kept.len) {
        struct piece piece = { 0, 0 };
        size_t got = 0;
        while (got < sizeof piece) { /* it may lie across memory and file */
            ssize_t n = spool_read(&o->kept, at, (char *)&piece + got,
                                   sizeof piece - got);
            if (n <= 0)
                return EIO;
            got += (size_t)n;
            at += n;
        }
        while (rc == 0 && piece.len > 0) {
            size_t want = piece.len < most ? piece.len : most;
            ssize_t n = spool_read(&o->kept, at, data, want);
            if (n <= 0)
                return EIO;
            rc = release(o, piece.stream, data, (size_t)n, prefixed);
            piece.len -= (uint32_t)n;
            at += n;
        }
    }
    return rc;
}

static void end_line(struct output *o)
{
    struct stream *err = &o->stream[1];

    if (err->line_begun && err->to >= 0)
        (void)write_whole(err->to, "\n", 1);
    err->line_begun = false;
}

int output_settle(struct output *o, bool last, bool success)
{
    int rc = 0;

    switch (o->args->output) {
    case OUTPUT_ALL:
        break;
    case OUTPUT_PREFIX:
        end_line(o);
        rc = release_all(o, !success);
        end_line(o);
        break;
    case OUTPUT_LAST:
        rc = last ? release_all(o, false) : 0;
        break;
    case OUTPUT_SUCCESS:
        rc = success ? release_all(o, false) : 0;
        break;
    }
    if (rc == 0 && (success || last))
        rc = o->lost ? o->lost : o->failed;
    if (!last)
        o->lost = o->failed = 0;
    spool_clear(&o->kept);
    return rc;
}

void output_done(struct output *o)
{
    spool_done(&o->kept);
    for (int i = 0; i < 2; i++) {
        free(o->stream[i].tail);
        o->stream[i].tail = NULL;
    }
}
