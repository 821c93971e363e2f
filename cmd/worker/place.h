/* bide worker, bide enqueue: which queue, at which broker.
 *
 *     struct queue_place place = QUEUE_PLACE_INIT;
 *     struct broker *b = place_open(&place, "worker", PLACE_LOOK);
 *     if (!b)
 *         return 2;                             // it has said why
 *     ...
 *     broker_close(b);
 */
#ifndef BIDE_CMD_WORKER_PLACE_H
#define BIDE_CMD_WORKER_PLACE_H

#include <stdbool.h>

#include "bide/config.h"
#include "queue/broker.h"

struct bide__worker_settings;

struct queue_place {
    const char *broker; /* URL; NULL: SQLite in the state folder */
    const char *queue;
    bool named;         /* by a flag */
    const char *file;   /* -c; NULL: none */
    bide_config *config; /* what is in it, once it was read */
    int64_t lease_ns;   /* of a worker; 0: the broker's own */
    bool create;        /* although a similar name exists */
    char made[QUEUE_NAME_MAX + 1]; /* the queue, if it was made now */
};

#define QUEUE_PLACE_INIT                                                       \
    {                                                                          \
        .queue = "default"                                                     \
    }

#define PLACE_FLAGS                                                            \
    { "config", 'c', "FILE",                                                   \
      "a policy file with a section `worker`; flags override it" },            \
        { "queue", 'q', "NAME", "the queue (default)" },                       \
    {                                                                          \
        "broker", 'b', "URL",                                                  \
            "where the queue is: sqlite:FILE, postgresql://, redis://, "       \
            "amqp://, kafka:// or sqs://REGION (queue.db in the state "        \
            "directory)"                                                       \
    }

/* Takes a flag if it is one of PLACE_FLAGS: 1 taken, 0 not one of these, -1 an
 * error, and *ret_expected says what was expected. */
int place_flag(struct queue_place *p, const char *name, const char *argument,
               const char **ret_expected);

/* Reads the file, if one is named: what it says about the queue counts where no
 * flag does. -1 to continue, else an exit code, and it was printed why. Twice
 * does no harm; place_open() does it, too, and frees it again if that fails.
 * place_done() frees it. */
int place_settle(struct queue_place *p, const char *command);
void place_done(struct queue_place *p);

/* What the file says about the worker; NULL: there is none. */
const struct bide__worker_settings *place_settings(const struct queue_place *p);

enum place_use {
    PLACE_LOOK,    /* the queue must exist */
    PLACE_PUT,     /* made if missing; a note, if the name is close to another */
    PLACE_CONSUME  /* made if missing, unless the name is close to another */
};

/* NULL: it was printed why, and the exit code is EXIT_USAGE. */
struct broker *place_open(struct queue_place *p, const char *command,
                          enum place_use use);

#endif
