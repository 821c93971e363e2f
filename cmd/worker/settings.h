/* bide worker: what no flag says, as the file has it (-c), or as it is by default. */
#ifndef BIDE_CMD_WORKER_SETTINGS_H
#define BIDE_CMD_WORKER_SETTINGS_H

#include "cmd/worker/worker.h"

/* -1 to continue, else an exit code, and it was printed why. */
int worker_settle(struct worker_args *args);

/* How long a worker that has gone silent keeps its messages. */
int64_t worker_lease_ns(const struct worker_args *args);

#endif
