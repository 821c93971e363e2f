/* queue/sqlite/look.h: counting, listing and redriving. */
#ifndef BIDE_QUEUE_SQLITE_LOOK_H
#define BIDE_QUEUE_SQLITE_LOOK_H

#include "queue/broker.h"

struct sqlite_broker;

/* Before the first statement: what SQL asks us. */
int look_open(struct sqlite_broker *s);

/* The broker's verbs of these names. */
int look_counts(struct broker *b, struct broker_counts *ret);
int look_each(struct broker *b, const struct broker_filter *filter,
              broker_each *fn, void *arg);
int look_redrive(struct broker *b, const char *const *ids, size_t n,
                 bool fresh_key, size_t *ret_n);
int look_queues(struct broker *b, void (*fn)(void *arg, const char *name),
                void *arg);

#endif
