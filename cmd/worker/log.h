/* bide worker: what it says about its work, on standard error. */
#ifndef BIDE_CMD_WORKER_LOG_H
#define BIDE_CMD_WORKER_LOG_H

#include <stdbool.h>

#include "queue/worker.h"

struct worker_log {
    const char *queue;
    const char *to; /* the handler's URL; NULL: a command */
    bool quiet, verbose, json;
    bool embedded;
};

/* For queue_worker_conf.on_event. */
void worker_log_event(void *log, const struct queue_event *e);

/* "bide worker: default: 1 waiting, 4 at once; Ctrl-C drains" */
void worker_log_start(const struct worker_log *log,
                      const struct broker_counts *counts, unsigned at_once);

#endif
