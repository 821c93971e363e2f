/* bide worker: what others see of it: metrics, /healthz, the dashboard, traces.
 *
 *     struct worker_admin *a = worker_admin_new(queue, dep);
 *     worker_admin_counts(a, &counts);              // now and then
 *     struct worker_watch watch = { .listen = "127.0.0.1:9902",
 *                                   .telemetry = &telemetry };
 *     if (!worker_admin_start(a, &watch, stats, why, sizeof why))
 *         ...
 *     worker_admin_free(a);
 */
#ifndef BIDE_CMD_WORKER_ADMIN_H
#define BIDE_CMD_WORKER_ADMIN_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/worker/trace.h"
#include "config/proxy/conf.h"
#include "queue/worker.h"

struct worker_admin;

/* Who watches. Threads: immutable. */
struct worker_watch {
    const char *listen; /* NULL: no endpoint */
    const struct bide__proxy_telemetry *telemetry;
    const char *system; /* the kind of broker */
};

/* NULL: no memory. */
struct worker_admin *worker_admin_new(const char *queue, bide_dep *dep);

/* What the broker counted, from the worker's thread. */
void worker_admin_counts(void *admin, const struct broker_counts *counts);

/* Serves it. False, and why not, with the option that is to blame. The stats must
 * outlive it. */
bool worker_admin_start(struct worker_admin *a, const struct worker_watch *watch,
                        const struct queue_stats *stats, char *why, size_t size);
/* Whom to tell about deliveries. */
struct worker_trace *worker_admin_trace(struct worker_admin *a);
int worker_admin_port(const struct worker_admin *a);
void worker_admin_free(struct worker_admin *a); /* NULL is fine */

#endif
