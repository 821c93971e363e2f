/* The access log: where it goes, and each worker's part of it. */
#include "proxy/access_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/list.h"
#include "config/proxy/conf.h"
#include "observe/event/sink.h"
#include "proxy/access_line.h"
#include "proxy/exchange/exchange.h"
#include "proxy/proxy.h"
#include "proxy/worker.h"

enum {
    RING = 1 << 19, /* bytes of each worker: some 1 700 lines, touched only
                       while the writing thread falls behind */
    FLUSH_MS = 100  /* a reader of the log sees a line after this time */
};

struct access_log {
    struct worker *worker;
    struct bide__lines *lines;
    struct net_timer timer;
    struct access_time time;
};

/* ===== the program ===== */

struct bide__target *access_log_open(const char *where, char *err,
                                     size_t err_size)
{
    char why[512];
    struct bide__target *to =
        bide__target_new(where ? where : "/dev/null", why, sizeof why);
    if (!to)
        snprintf(err, err_size, "cannot open the access log %s", why);
    return to;
}

bool access_log_use(struct proxy *p, struct bide__target *to)
{
    struct bide__sink *sink = p->log;

    if (sink) {
        bide__sink_use(sink, to);
        return true;
    }
    p->log = sink = bide__sink_new(to, p->n_workers, RING);
    if (!sink)
        bide__target_free(to);
    return sink != NULL;
}

/* ===== workers ===== */

static void on_time(struct net_timer *t)
{
    access_log_flush(bide__container_of(t, struct access_log, timer));
}

bool access_log_follow(struct worker *w)
{
    struct bide__sink *sink = w->proxy->log;
    struct bide__lines *lines = sink ? bide__sink_lines(sink, w->index) : NULL;

    if (lines)
        bide__lines_flush(lines); /* the lines so far go to the old target */
    if (!w->conf->access_log || !lines) {
        access_log_free(w->log);
        w->log = NULL;
        return true;
    }
    if (w->log)
        return true;
    struct access_log *log = calloc(1, sizeof *log);
    if (!log)
        return false;
    log->worker = w;
    log->lines = lines;
    log->timer.fire = on_time;
    log->time.second = -1;
    w->log = log;
    return true;
}

void access_log_flush(struct access_log *log)
{
    bide__lines_flush(log->lines);
    net_timer_cancel(&log->worker->loop, &log->timer);
}

void access_log_free(struct access_log *log)
{
    if (!log)
        return;
    access_log_flush(log);
    free(log);
}

void access_log_write(struct access_log *log, const struct exchange *ex)
{
    struct worker *w = log->worker;
    char *line = bide__lines_room(log->lines, ACCESS_LINE);
    if (!line)
        return; /* it has been counted */
    struct text t = { line, line + ACCESS_LINE, false };
    access_time_look(&log->time);
    if (w->conf->access_log_format == BIDE__ACCESS_JSON)
        access_line_json(&t, ex, &log->time);
    else
        access_line_common(&t, ex, &log->time,
                           w->conf->access_log_format == BIDE__ACCESS_COMBINED);
    bide__lines_add(log->lines, (size_t)(t.at - line));
    if (!bide__timer_is_set(&log->timer.timer))
        net_timer_set(&w->loop, &log->timer,
                      w->loop.now_ns + FLUSH_MS * BIDE_MILLISECOND);
}
