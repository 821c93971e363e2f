/* proxy/access_log.h: a line for each request, in JSON or in the formats of web
 * servers (`access_log_format`).
 *
 *   {"time":"2026-01-02T03:04:05.678Z","client":"10.1.2.3",
 *    "host":"api.example.org","method":"GET","path":"/pay/7",
 *    "request_id":"f81d4fae","status":200,"attempts":2,"waited_ms":117.200,
 *    "reason":"success","took_ms":131.800,"first_byte_ms":131.500,
 *    "bytes_in":0,"bytes_out":512,"upstream":"pay","policy":"payments",
 *    "endpoint":"https://10.0.0.1:8443"}
 *
 *   10.1.2.3 - - [02/Jan/2026:03:04:05 +0000] "GET /pay/7 HTTP/1.1" 200 512
 *
 * Each worker has a ring for its lines, and one thread writes them to the
 * target (observe/event/sink.h): a worker never waits. Lines are flushed when
 * there are enough of them, or after a second.
 *
 * Values from clients are escaped and truncated: a line has at most ACCESS_LINE
 * bytes, so that it is written atomically to a pipe, and no one can forge
 * one. */
#ifndef BIDE_PROXY_ACCESS_LOG_H
#define BIDE_PROXY_ACCESS_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum { ACCESS_LINE = 4096 };

struct access_log; /* a worker's part. Threads: owned */
struct bide__target;
struct exchange;
struct proxy;
struct worker;

/* ===== the program ===== */

/* Opens the configured target; none is /dev/null. NULL, and why. */
struct bide__target *access_log_open(const char *where, char *err,
                                     size_t err_size);

/* Sends lines to this target from now on, and owns it. False: no memory or
 * thread, and it was closed. Not while a worker is being created. */
bool access_log_use(struct proxy *p, struct bide__target *to);

/* ===== workers ===== */

/* Starts or stops logging, as the worker's configuration says, after flushing
 * what it has logged so far. False: no memory. */
bool access_log_follow(struct worker *w);
void access_log_write(struct access_log *log, const struct exchange *ex);
void access_log_flush(struct access_log *log);
void access_log_free(struct access_log *log); /* NULL is fine */

#endif
