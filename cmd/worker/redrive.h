/* bide worker redrive: which dead messages, and what the first of them came to. */
#ifndef BIDE_CMD_WORKER_REDRIVE_H
#define BIDE_CMD_WORKER_REDRIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "queue/broker.h"

struct queue_place;

/* The subcommand: argv[0] is its name. An exit code. */
int worker_redrive(int argc, char **argv, const struct queue_place *place);

/* The ids of messages. Threads: owned. */
struct redrive_ids {
    char **list;
    size_t n, room;
    bool failed; /* no memory */
};

void redrive_ids_add(struct redrive_ids *ids, const char *id);
void redrive_ids_done(struct redrive_ids *ids);

/* How many of the first n ids have succeeded, failed again, or neither yet: a
 * message that is gone was done; one that is dead again, or has used up an
 * attempt, has failed. 0 or a status. */
struct redrive_results {
    size_t good, bad, open;
};
int redrive_results(struct broker *b, const struct redrive_ids *ids, size_t n,
                    struct redrive_results *ret);

/* Whether to go on after those. */
static inline bool redrive_goes_on(const struct redrive_results *r)
{
    return r->good > r->bad;
}

#endif
