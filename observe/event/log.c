/* Which events become lines, and how they are written. */
#include "observe/event/log.h"

#include <string.h>

#include "bide/policy.h"

void bide__log_init(struct bide__log *log, struct bide__lines *to,
                    double per_s, double burst, int64_t wall_offset_ns)
{
    *log = (struct bide__log){ .to = to,
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

/* Passes on the line that was written, if there is one. */
static void pass_on(struct bide__log *log)
{
    size_t len = log->out.len;
    char *to = len && !log->out.failed ? bide__lines_room(log->to, len) : NULL;

    if (to) {
        memcpy(to, log->out.data, len);
        bide__lines_add(log->to, len);
    }
    bide__out_clear(&log->out);
}

void bide__log_event(struct bide__log *log, const struct bide__event *e,
                     int64_t now_ns)
{
    if (e->kind != BIDE__EVENT_BREAKER && !bide__event_decides(e) &&
        !bide__event_saved(e))
        return;
    if (!take_token(log, now_ns)) {
        log->suppressed++;
        log->suppressed_ever++;
        return;
    }
    bide__log_line(&log->out, e, log->wall_offset_ns);
    pass_on(log);
}

void bide__log_flush(struct bide__log *log, int64_t now_ns)
{
    if (log->suppressed) {
        bide__log_suppressed(&log->out, log->suppressed,
                             now_ns + log->wall_offset_ns);
        log->suppressed = 0;
        pass_on(log);
    }
    bide__lines_flush(log->to);
}
