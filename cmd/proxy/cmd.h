/* The internals of bide proxy. */
#ifndef BIDE_CMD_PROXY_CMD_H
#define BIDE_CMD_PROXY_CMD_H

#include "config/proxy/conf.h"

struct station;

/* Threads: owned. */
struct proxy_args {
    const char *file;
    bool check;
    int text; /* what was read, see proxy_read() */
};

/* Reads the file, and prints errors in it. NULL if it cannot be used. *ret_text
 * is an in-memory file with the text, for the caller to close; -1: none. */
bide_config *proxy_read(const char *file, const struct bide__proxy_conf **ret,
                        int *ret_text);

/* The same from such a file; prints only errors. */
bide_config *proxy_read_again(const char *file, int text,
                              const struct bide__proxy_conf **ret);

/* Serves until it is asked to end; owns config, and args->text. An exit
 * code. */
int proxy_run(const struct proxy_args *args, struct station *station,
              bide_config *config, const struct bide__proxy_conf *conf);

#endif
