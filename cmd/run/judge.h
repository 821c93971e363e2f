/* bide run: what an attempt came to, and whether that may improve. */
#ifndef BIDE_CMD_RUN_JUDGE_H
#define BIDE_CMD_RUN_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bide/outcome.h"
#include "bide/run.h"

struct run_args;

enum ended { ENDED_EXIT, ENDED_SIGNAL, ENDED_TIMEOUT, ENDED_NOT_STARTED };

struct ending {
    enum ended how;
    int code;        /* that bide would exit with */
    int signal;      /* that killed it; 0: none */
    int err;         /* errno, if it was not started */
    int stopped_by;  /* the signal that bide was told to stop by; 0: none */
    bool retry_seen; /* --retry-if matches the output */
    bool stop_seen;  /* --stop-if does */
    int64_t took_ns;
};

/* Classifies it. */
bide_outcome run_judge(const struct run_args *args, const struct ending *e);

/* Says it: "exit 7", "signal TERM", "timeout". In `buffer`. */
const char *run_ending_text(const struct ending *e, char *buffer, size_t size);

#endif
