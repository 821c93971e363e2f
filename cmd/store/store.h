/* bide store: what its files share. */
#ifndef BIDE_CMD_STORE_STORE_H
#define BIDE_CMD_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "store/kind.h"

struct args {
    const char *config;  /* -c FILE ... */
    const char *url;     /* ... or --store URL */
    const char *scope;   /* NULL: all */
    int64_t older_ns;    /* -1: not given */
    uint64_t most;       /* rows; 0: all */
    bool json, answer;
};

/* A store that is open. */
struct opened {
    const struct bide__store_kind *kind;
    void *self;
    const char *url;
};

/* `ls` and `show`: exit codes. */
int store_list(const struct opened *store, const struct args *args);
int store_show(const struct opened *store, const struct args *args,
               const char *key);

#endif
