/* proxy/access_log.h: one line of JSON for each request.
 *
 *     {"time":"2026-01-02T03:04:05.678Z","client":"10.1.2.3","method":"GET",
 *      "path":"/pay/7","status":200,"attempts":2,"waited_ms":117.2,
 *      "reason":"success","took_ms":131.8,"first_byte_ms":131.5,
 *      "bytes_in":0,"bytes_out":512,"upstream":"pay","policy":"payments",
 *      "endpoint":"https://10.0.0.1:8443"}
 *
 * Lines are collected and written when there are enough of them, or a second
 * has passed; each write holds whole lines, so that several workers may append
 * to one file. Threads: owned, one for each worker. */
#ifndef BIDE_PROXY_ACCESS_LOG_H
#define BIDE_PROXY_ACCESS_LOG_H

#include <stddef.h>

struct access_log;
struct exchange;
struct worker;

/* `where` is a path, or "stdout", "stderr". NULL, and why in err. */
struct access_log *access_log_new(struct worker *w, const char *where,
                                  char *err, size_t err_size);

/* Goes over to another place, or to none, if that is what the configuration
 * says now. */
void access_log_follow(struct worker *w);
void access_log_write(struct access_log *log, const struct exchange *ex);
void access_log_flush(struct access_log *log);
void access_log_reopen(struct access_log *log); /* after it was moved away */
void access_log_free(struct access_log *log);

#endif
