/* queue/redis/bell.h: hears that a stream has grown, whoever added to it. */
#ifndef BIDE_QUEUE_REDIS_BELL_H
#define BIDE_QUEUE_REDIS_BELL_H

#include <stdint.h>

struct broker;

/* The broker's wait_fd() and woken(). */
int rq_wait_fd(struct broker *b, int64_t *ret_poll_ns);
void rq_woken(struct broker *b);

#endif
