/* bide worker: what others see of it: metrics, /healthz, the dashboard.
 *
 *     struct worker_admin *a = worker_admin_new(queue, dep);
 *     worker_admin_counts(a, &counts);              // now and then
 *     if (!worker_admin_start(a, "127.0.0.1:9902", stats, why, sizeof why))
 *         ...
 *     worker_admin_free(a);
 */
#ifndef BIDE_CMD_WORKER_ADMIN_H
#define BIDE_CMD_WORKER_ADMIN_H

#include <stdbool.h>
#include <stddef.h>

#include "queue/worker.h"

struct worker_admin;

/* NULL: no memory. */
struct worker_admin *worker_admin_new(const char *queue, bide_dep *dep);

/* What the broker counted, from the worker's thread. */
void worker_admin_counts(void *admin, const struct broker_counts *counts);

/* Serves it. False, and why not. The stats must outlive it. */
bool worker_admin_start(struct worker_admin *a, const char *listen,
                        const struct queue_stats *stats, char *why, size_t size);
int worker_admin_port(const struct worker_admin *a);
void worker_admin_free(struct worker_admin *a); /* NULL is fine */

#endif
