/* A set of exit codes of commands, 0 to 255. Threads: owned. */
#ifndef BIDE_BASE_CODES_H
#define BIDE_BASE_CODES_H

#include <stdbool.h>

struct bide__codes {
    bool given;
    bool has[256];
};

#endif
