/* One line of JSON for each request. */
#include "access_log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "exchange.h"
#include "state.h"
#include "text.h"
#include "worker.h"

enum {
    LOG_BYTES = 32768,
    LINE_MOST = 12288,
    FLUSH_MS = 1000,
    PATH_MOST = 1024
};

struct access_log {
    struct worker *worker;
    char *where;
    int fd;
    struct net_timer timer;
    uint64_t lost;  /* bytes that could not be written */
    int64_t second; /* that `stamp` is of */
    char stamp[24];
    struct net_buf *lines;
};

static int open_log(const char *where)
{
    if (strcmp(where, "stdout") == 0)
        return dup(1);
    if (strcmp(where, "stderr") == 0)
        return dup(2);
    return open(where, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
}

static void on_time(struct net_timer *t)
{
    access_log_flush(
        (struct access_log *)((char *)t - offsetof(struct access_log, timer)));
}

struct access_log *access_log_new(struct worker *w, const char *where,
                                  char *err, size_t err_size)
{
    struct access_log *log = calloc(1, sizeof *log);
    struct net_buf *lines = malloc(sizeof *lines + LOG_BYTES);
    int fd = open_log(where);
    if (!log || !lines || fd < 0) {
        snprintf(err, err_size, "cannot open the access log %s: %s", where,
                 strerror(errno));
        free(log);
        free(lines);
        return NULL;
    }
    *lines = (struct net_buf){ .size = LOG_BYTES };
    log->worker = w;
    log->where = strdup(where);
    log->fd = fd;
    log->lines = lines;
    log->timer.fire = on_time;
    log->second = -1;
    return log;
}

void access_log_flush(struct access_log *log)
{
    struct net_buf *b = log->lines;
    while (net_buf_len(b) > 0) {
        ssize_t n = write(log->fd, net_buf_at(b), net_buf_len(b));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) { /* a full disk must not stop the service */
            log->lost += net_buf_len(b);
            break;
        }
        b->begin += (uint32_t)n;
    }
    b->begin = b->end = 0;
    net_timer_cancel(&log->worker->loop, &log->timer);
}

void access_log_reopen(struct access_log *log)
{
    int fd = open_log(log->where);
    access_log_flush(log);
    if (fd < 0)
        return; /* better the old one than none */
    close(log->fd);
    log->fd = fd;
}

void access_log_follow(struct worker *w)
{
    const char *where = w->conf->access_log;
    char err[512];
    if (w->log && where && strcmp(w->log->where, where) == 0)
        return;
    struct access_log *log =
        where ? access_log_new(w, where, err, sizeof err) : NULL;
    if (where && !log) {
        fprintf(stderr, "bide proxy: %s\n", err);
        return; /* better the old one than none */
    }
    access_log_free(w->log);
    w->log = log;
}

void access_log_free(struct access_log *log)
{
    if (!log)
        return;
    access_log_flush(log);
    close(log->fd);
    free(log->where);
    free(log->lines);
    free(log);
}

/* ===== lines ===== */

static void put_time(struct access_log *log, struct text *t)
{
    struct timespec now;
    struct tm tm;
    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec != log->second) {
        gmtime_r(&now.tv_sec, &tm);
        strftime(log->stamp, sizeof log->stamp, "%Y-%m-%dT%H:%M:%S", &tm);
        log->second = now.tv_sec;
    }
    TEXT_LITERAL(t, "{\"time\":\"");
    text_string(t, log->stamp);
    text_thousandths(t, (unsigned)(now.tv_nsec / 1000000));
    TEXT_LITERAL(t, "Z\"");
}

/* One that needs no escaping. */
static void put_word(struct text *t, const char *name, const char *word)
{
    text_string(t, name);
    text_string(t, word);
    TEXT_LITERAL(t, "\"");
}

static void put_count(struct text *t, const char *name, uint64_t n)
{
    text_string(t, name);
    text_number(t, n);
}

static void put_client(struct text *t, const struct client *c)
{
    char address[INET6_ADDRSTRLEN] = "unix";
    if (c->address_len)
        inet_ntop(c->address_len == 4 ? AF_INET : AF_INET6, c->address, address,
                  sizeof address);
    put_word(t, ",\"client\":\"", address);
}

static void put_ms(struct text *t, const char *name, int64_t ns)
{
    uint64_t us = ns > 0 ? (uint64_t)ns / 1000 : 0;
    put_count(t, name, us / 1000);
    text_thousandths(t, (unsigned)(us % 1000));
}

static void put_request(struct text *t, const struct exchange *ex)
{
    const struct http1_head *req = &ex->req;
    const char *bytes = exchange_bytes(ex);
    size_t len = req->path_len < PATH_MOST ? req->path_len : PATH_MOST;
    if (req->head_len == 0)
        return; /* it was none */
    TEXT_LITERAL(t, ",\"method\":");
    text_json(t, bytes + req->method,
              req->method_len < 64 ? req->method_len : 64);
    TEXT_LITERAL(t, ",\"path\":");
    text_json(t, bytes + req->path, len);
}

static const char *reason_of(const struct exchange *ex)
{
    if (ex->reason == BIDE_N_REASONS)
        return "cut_short";
    if (ex->problem)
        return ex->problem;
    return bide_reason_name((bide_reason)ex->reason);
}

static void put_decisions(struct text *t, const struct exchange *ex)
{
    int64_t now = ex->worker->loop.now_ns;
    put_count(t, ",\"status\":", ex->status);
    put_count(t, ",\"attempts\":", ex->tries);
    put_ms(t, ",\"waited_ms\":", ex->waited_ns);
    put_word(t, ",\"reason\":\"", reason_of(ex));
    put_ms(t, ",\"took_ms\":", now - ex->begin_ns);
    if (ex->first_byte_ns)
        put_ms(t, ",\"first_byte_ms\":", ex->first_byte_ns - ex->begin_ns);
    put_count(t, ",\"bytes_in\":", ex->body_bytes);
    put_count(t, ",\"bytes_out\":", ex->out_bytes);
    if (!ex->route)
        return;
    const struct service *s = ex->route->service;
    TEXT_LITERAL(t, ",\"upstream\":");
    text_json(t, s->upstream->name, strlen(s->upstream->name));
    TEXT_LITERAL(t, ",\"policy\":");
    text_json(t, s->policy_name, strlen(s->policy_name));
    if (ex->endpoint) {
        TEXT_LITERAL(t, ",\"endpoint\":");
        text_json(t, ex->endpoint->url, strlen(ex->endpoint->url));
    }
    if (ex->fault)
        put_word(t, ",\"fault\":\"", bide_fault_name((bide_fault)ex->fault));
}

void access_log_write(struct access_log *log, const struct exchange *ex)
{
    struct net_buf *b = log->lines;
    if (net_buf_space(b) < LINE_MOST)
        access_log_flush(log);
    struct text t = text_in(b);
    put_time(log, &t);
    put_client(&t, ex->client);
    put_request(&t, ex);
    put_decisions(&t, ex);
    TEXT_LITERAL(&t, "}\n");
    if (!t.full)
        text_done(&t, b); /* a whole line, or none */
    if (!bide__timer_is_set(&log->timer.timer))
        net_timer_set(&log->worker->loop, &log->timer,
                      log->worker->loop.now_ns + FLUSH_MS * BIDE_MILLISECOND);
}
