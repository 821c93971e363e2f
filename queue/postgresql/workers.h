/* queue/postgresql/workers.h: rows of workers, their leases, and what becomes of
 * the messages of those whose lease has ended. */
#ifndef BIDE_QUEUE_POSTGRESQL_WORKERS_H
#define BIDE_QUEUE_POSTGRESQL_WORKERS_H

#include <stddef.h>

struct broker;
struct broker_rescued;
struct pg_broker;
struct queue_message;

/* Makes sure that this worker has a row, and that the server knows what is in its
 * hands. 0 or a status. */
int pgq_enlist(struct pg_broker *q);

/* Its row is gone: what that held is somebody else's, and it needs another. */
void pgq_start_over(struct pg_broker *q);

/* Gives its messages back and deletes its row, as far as the server can be
 * reached. */
void pgq_leave(struct pg_broker *q);

/* The broker's beat() and rescue(). */
int pgq_beat(struct broker *b, struct queue_message **running, size_t n);
int pgq_rescue(struct broker *b, struct broker_rescued *ret);

#endif
