/* bide proxy: what is logged, exported and served about it. */
#ifndef BIDE_CMD_PROXY_TELEMETRY_H
#define BIDE_CMD_PROXY_TELEMETRY_H

#include <stdbool.h>
#include <stddef.h>

#include "config/proxy/conf.h"

struct kept;
struct proxy;
struct telemetry;

/* Creates what the configuration asks for; before the proxy starts, so that
 * there is an observer. `file` is where the configuration was read (may be
 * NULL), and outlives it. NULL and why. */
struct telemetry *telemetry_new(struct proxy *p,
                                const struct bide__proxy_conf *conf,
                                const char *file, char *err, size_t size);

/* Starts it, when the proxy has started. False and why. */
bool telemetry_start(struct telemetry *t, const struct bide__proxy_conf *conf,
                 char *err, size_t size);

/* Opens the socket of the admin endpoint for telemetry_start(), before
 * privileges are dropped. False and why. */
bool telemetry_bind(struct kept *kept, const struct bide__proxy_conf *conf,
                char *err, size_t size);

/* Another process now has the admin endpoint. */
void telemetry_hand_over(struct telemetry *t);

/* Around a reload, so that its requester gets the result; and in between, reads
 * the admin endpoint's certificate again (false and why). */
void telemetry_reloading(struct telemetry *t);
bool telemetry_reload(struct telemetry *t, const struct bide__proxy_conf *conf,
                  char *err, size_t size);
void telemetry_reloaded(struct telemetry *t, bool refused);

/* Reopens the log of decisions. False and why. */
bool telemetry_rotate(struct telemetry *t, const struct bide__proxy_conf *conf,
                  char *err, size_t size);

/* Ends it, after the workers have ended; frees it, after the proxy, whose
 * workers still use its rings. NULL is fine. */
void telemetry_stop(struct telemetry *t);
void telemetry_free(struct telemetry *t);

#endif
