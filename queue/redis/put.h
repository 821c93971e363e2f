/* queue/redis/put.h: messages as arguments of the script, and as its answer. */
#ifndef BIDE_QUEUE_REDIS_PUT_H
#define BIDE_QUEUE_REDIS_PUT_H

#include <stddef.h>
#include <stdint.h>

struct broker;
struct broker_put;
struct queue_message;
struct redis_reply;

/* The broker's put(). */
int rq_put(struct broker *b, struct broker_put *items, size_t n);

/* A message of what describe() in queue.lua has made, or of an entry of a stream:
 * its id, its fields and its priority; then it has this token. What a foreign
 * producer wrote is brought into form. NULL: no memory. */
struct queue_message *rq_message(const struct redis_reply *reply, uint64_t token);

#endif
