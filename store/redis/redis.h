/* store/redis/redis.h: a connection to Redis, for a thread that may wait.
 *
 *     struct redis *r = redis_new(&url);                  // connects to nothing
 *     struct redis_reply reply;
 *     if (redis_connect(r, now + 250 * MS) == 0) {
 *         redis_command(r, 2);                            // two arguments:
 *         redis_arg(r, "GET");
 *         redis_arg_bytes(r, key, key_len);
 *         redis_command(r, 1);                            // a pipeline
 *         redis_arg(r, "TIME");
 *         while (redis_pending(r) > 0 &&
 *                redis_next(r, now + 250 * MS, &reply) == 0)
 *             use(&reply);                // valid until the next call
 *     }
 *     if (!redis_is_connected(r))
 *         say(redis_why(r));              // and redis_connect() again, later
 *     redis_free(r);
 *
 * Every operation has an absolute deadline on the monotonic clock. One that
 * misses it closes the connection, because the replies that are still to come
 * could no longer be told apart from those of later commands; so does anything
 * that is not RESP. What was sent may then have been done or not: commands must
 * be such that this is all right.
 *
 * redis_connect() is cheap to call: it does nothing while there is a
 * connection, and fails at once while the wait after the last failure is not
 * over. Waits are drawn with full jitter from 100 ms, doubling up to 5 s
 * (bide/backoff.h), so that a fleet does not return to its Redis as one.
 *
 * Names are looked up by getaddrinfo(), for which no deadline holds. */
#ifndef BIDE_STORE_REDIS_REDIS_H
#define BIDE_STORE_REDIS_REDIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/redis/resp.h"
#include "store/redis/url.h"

/* Threads: owned. */
struct redis;

/* NULL: no memory. `url` is copied. */
struct redis *redis_new(const struct redis_url *url);
void redis_free(struct redis *r); /* NULL is fine */

/* Connects, logs in and selects the database, unless it is connected. 0, or -1
 * and redis_why(). */
int redis_connect(struct redis *r, int64_t until_ns);
bool redis_is_connected(const struct redis *r);

/* Where it is, without the password. */
const char *redis_address(const struct redis *r);

/* When redis_connect() will try again; 0: at once. */
int64_t redis_retry_at(const struct redis *r);

/* Waits no longer than this between two tries; unless set, 5 s. */
void redis_longest_wait(struct redis *r, int64_t ns);

/* Forgets that wait, for a caller who waits by a rule of his own. */
void redis_retry_now(struct redis *r);

/* Counts connections: another number, and the server may be another one, or may
 * have forgotten what it held. */
uint64_t redis_connection(const struct redis *r);

/* To poll for input; -1 without a connection. */
int redis_fd(const struct redis *r);

/* Why the last operation failed, for people; never NULL, no password in it. */
const char *redis_why(const struct redis *r);

/* Closes the connection; the next redis_connect() may follow at once. */
void redis_close(struct redis *r);

/* ===== commands ===== */

/* Begins a command of `n` arguments, its name included; exactly n of the others
 * follow. Nothing is sent before redis_send() or redis_next(). */
void redis_command(struct redis *r, unsigned n);
void redis_arg(struct redis *r, const char *text);
void redis_arg_bytes(struct redis *r, const void *bytes, size_t len);
void redis_arg_int(struct redis *r, int64_t n);

/* Writes all commands. 0, or -1 and the connection is closed. */
int redis_send(struct redis *r, int64_t until_ns);

/* Sends what is not sent yet, and waits for the next reply. An error that the
 * server replies is a reply (REDIS_ERROR). 0, or -1 and the connection is
 * closed. The reply is valid until the next redis_next() or redis_free(). */
int redis_next(struct redis *r, int64_t until_ns, struct redis_reply *ret);

/* How many replies are still to come. */
unsigned redis_pending(const struct redis *r);

/* ===== scripts ===== */

/* A script, by its text. All zero but `text` at first. Threads: owned. */
struct redis_script {
    const char *text;
    uint64_t connection; /* on which it was loaded */
    char sha[41];
};

/* Loads a script, unless this connection has; no reply may be pending. 0, or -1:
 * closed, or the server refused it and redis_why() says why. */
int redis_script_load(struct redis *r, struct redis_script *s,
                      int64_t until_ns);

/* Begins EVALSHA; n_keys keys and then n_args arguments follow. */
void redis_script_begin(struct redis *r, const struct redis_script *s,
                        unsigned n_keys, unsigned n_args);

/* Whether a reply says that the server no longer has the script: it did nothing.
 * redis_script_forget(), load and run it again. */
bool redis_script_gone(const struct redis_reply *reply);
void redis_script_forget(struct redis_script *s);

#endif
