/* Which events become lines, and how they get out. */
#include "log.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "bide/policy.h"

enum { WRITE_AT = 64 * 1024 };

void bide__log_init(struct bide__log *log, int fd, double per_s, double burst,
                    int64_t wall_offset_ns)
{
    *log = (struct bide__log){ .fd = fd,
                               .per_s = per_s,
                               .burst = burst,
                               .tokens = burst,
                               .wall_offset_ns = wall_offset_ns };
}

void bide__log_done(struct bide__log *log)
{
    bide__out_done(&log->out);
}

static void refill(struct bide__log *log, int64_t now)
{
    if (log->filled_ns == 0 || now < log->filled_ns)
        log->filled_ns = now;
    log->tokens += (double)(now - log->filled_ns) / 1e9 * log->per_s;
    if (log->tokens > log->burst)
        log->tokens = log->burst;
    log->filled_ns = now;
}

static bool take_token(struct bide__log *log, int64_t now)
{
    refill(log, now);
    if (log->tokens < 1)
        return false;
    log->tokens -= 1;
    return true;
}

static uint64_t lines_in(const char *text, size_t len)
{
    uint64_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += text[i] == '\n';
    return n;
}

/* As many whole lines as a pipe takes at once: one that poll() finds ready has
 * room for PIPE_BUF bytes, and whoever writes more may wait for its reader. */
static size_t portion(const char *text, size_t len)
{
    size_t most = len < PIPE_BUF ? len : PIPE_BUF;
    const char *end = memrchr(text, '\n', most);
    return end ? (size_t)(end - text) + 1 : most;
}

/* A pipe that is full is not waited for. Where part of a line went out, as only
 * others than pipes do it, its end is waited for, a moment. */
static void write_out(struct bide__log *log)
{
    size_t done = 0;
    while (done < log->out.len) {
        const char *at = log->out.data + done;
        struct pollfd p = { .fd = log->fd, .events = POLLOUT };
        bool midline = done > 0 && at[-1] != '\n';
        if (poll(&p, 1, midline ? 100 : 0) <= 0)
            break;
        ssize_t n = write(log->fd, at, portion(at, log->out.len - done));
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    log->lost += lines_in(log->out.data + done, log->out.len - done);
    bide__out_clear(&log->out);
}

void bide__log_event(struct bide__log *log, const struct bide__event *e,
                     int64_t now_ns)
{
    if (e->kind != BIDE__EVENT_BREAKER && !bide__event_decides(e))
        return;
    if (!take_token(log, now_ns)) {
        log->suppressed++;
        log->suppressed_ever++;
        return;
    }
    bide__log_line(&log->out, e, log->wall_offset_ns);
    if (log->out.len >= WRITE_AT)
        write_out(log);
}

void bide__log_flush(struct bide__log *log, int64_t now_ns)
{
    if (log->suppressed) {
        bide__log_suppressed(&log->out, log->suppressed,
                             now_ns + log->wall_offset_ns);
        log->suppressed = 0;
    }
    if (log->out.len)
        write_out(log);
}
