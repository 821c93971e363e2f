/* queue/sqlite/workers.h: which workers are alive, and what dead ones held.
 *
 * Worker n has a row and holds a lock on byte n of NAME.db-workers. Nobody has the
 * lock: the process is gone, and its messages are free at once. It has the lock, but
 * its beat has not moved for a lease, by our own steady clock: it is frozen, and
 * loses its messages; nobody is blamed for that. A machine that slept is not taken
 * for one that is frozen: the clock slept too. */
#ifndef BIDE_QUEUE_SQLITE_WORKERS_H
#define BIDE_QUEUE_SQLITE_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct broker;
struct broker_rescued;
struct queue_message;
struct sqlite_broker;

/* A row and a lock, if this connection has none; in the open transaction. */
int workers_register(struct sqlite_broker *s);

/* Our row is gone: what it held is somebody else's. */
void workers_forget_us(struct sqlite_broker *s);

/* The token of a delivery names our row; whether that is the one we have now. */
uint64_t workers_token(const struct sqlite_broker *s, uint32_t delivery);
bool workers_is_ours(const struct sqlite_broker *s, uint64_t token);

void workers_leave(struct sqlite_broker *s); /* frees what is still held */

/* The file in which workers lock bytes. */
int workers_open_locks(struct sqlite_broker *s);

/* How many of this queue live, as far as that file is open; `any`: of all queues. */
int workers_alive(struct sqlite_broker *s, bool any, uint64_t *ret);

/* The broker's beat() and rescue(). */
int workers_beat(struct broker *b, struct queue_message **running, size_t n);
int workers_rescue(struct broker *b, struct broker_rescued *ret);

#endif
