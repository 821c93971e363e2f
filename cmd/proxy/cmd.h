/* bide proxy from the inside. */
#ifndef BIDE_CMD_PROXY_CMD_H
#define BIDE_CMD_PROXY_CMD_H

#include "config/proxy/conf.h"

struct kept;
struct station;

/* Threads: owned. */
struct proxy_args {
    const char *file;
    bool check;
    int text; /* what was read, see proxy_read() */
};

/* Reads the file, and prints what is wrong with it. NULL if it cannot be used.
 * *ret_text is a file in memory with what was read, for the caller to close; -1:
 * none. */
bide_config *proxy_read(const char *file, const struct bide__proxy_conf **ret,
                        int *ret_text);

/* The same from such a file; says nothing but mistakes. */
bide_config *proxy_read_again(const char *file, int text,
                              const struct bide__proxy_conf **ret);

/* Serves until it is told to end; owns config, and args->text. An exit code. */
int proxy_run(const struct proxy_args *args, struct station *station,
              bide_config *config, const struct bide__proxy_conf *conf);

/* ===== what watches it ===== */

struct proxy;
struct telemetry;

/* Makes what the configuration asks for; before the proxy starts, which then has
 * somebody to tell. NULL and why. */
struct telemetry *telemetry_new(struct proxy *p,
                                const struct bide__proxy_conf *conf, char *err,
                                size_t size);

/* Starts it, when the proxy has started. False and why. */
bool telemetry_start(struct telemetry *t, const struct bide__proxy_conf *conf,
                 char *err, size_t size);

/* Opens the socket of the admin endpoint, for telemetry_start() to find it: before
 * privileges are dropped. False and why. */
bool telemetry_bind(struct kept *kept, const struct bide__proxy_conf *conf,
                char *err, size_t size);

/* Another process has the admin endpoint now. */
void telemetry_hand_over(struct telemetry *t);

/* Around a reload, so that whoever asked for it hears what came of it; and in
 * between, reads the admin endpoint's certificate again (false and why). */
void telemetry_reloading(struct telemetry *t);
bool telemetry_reload(struct telemetry *t, const struct bide__proxy_conf *conf,
                  char *err, size_t size);
void telemetry_reloaded(struct telemetry *t, bool refused);

/* Opens the log of decisions again. False and why. */
bool telemetry_rotate(struct telemetry *t, const struct bide__proxy_conf *conf,
                  char *err, size_t size);

/* Ends it, when the workers have ended; frees it, when the proxy is freed, whose
 * workers still have rings of it. NULL is fine. */
void telemetry_stop(struct telemetry *t);
void telemetry_free(struct telemetry *t);

#endif
