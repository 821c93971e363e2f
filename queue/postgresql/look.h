/* queue/postgresql/look.h: counting, listing, redriving. */
#ifndef BIDE_QUEUE_POSTGRESQL_LOOK_H
#define BIDE_QUEUE_POSTGRESQL_LOOK_H

#include "queue/broker.h"

int pgq_counts(struct broker *b, struct broker_counts *ret);
int pgq_queues(struct broker *b, void (*fn)(void *arg, const char *name),
               void *arg);
/* On a connection that is there, whether the queue itself is or not. */
int pgq_names(struct broker *b, void (*fn)(void *arg, const char *name),
              void *arg);
int pgq_each(struct broker *b, const struct broker_filter *filter,
             broker_each *fn, void *arg);
int pgq_redrive(struct broker *b, const char *const *ids, size_t n,
                bool fresh_key, size_t *ret_n);

#endif
