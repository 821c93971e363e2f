/* queue/rabbitmq/manage.h: what the management API knows, and AMQP does not: policies.
 *
 *     if (*q->url.management)
 *         status = manage_check(q, fn, arg);
 *
 * A policy changes queues that are there, whoever declared them; one for ".*" also those
 * that bide keeps messages in while they wait. */
#ifndef BIDE_QUEUE_RABBITMQ_MANAGE_H
#define BIDE_QUEUE_RABBITMQ_MANAGE_H

#include "queue/rabbitmq/session.h"

/* Tells what policies do to the queues of q. 0, or a status with b->error. */
int manage_check(struct rmq *q, broker_finding *fn, void *arg);

#endif
