/* bide proxy from the inside. */
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

#endif
