/* queue/command.h: a command as the handler of messages.
 *
 *     struct queue_command c = QUEUE_COMMAND_INIT;
 *     c.argv = argv;                       // {"sh", "-c", "...", NULL}
 *     worker_conf.handler = &c.handler;
 *
 * The body is its standard input, a file that it may read twice. The environment has
 * BIDE_QUEUE, BIDE_MESSAGE_ID, BIDE_MESSAGE_KEY, BIDE_IDEMPOTENCY_KEY, BIDE_ATTEMPT,
 * BIDE_ATTEMPTS, BIDE_DELIVERY, and each attribute as BIDE_ATTR_NAME: a producer
 * cannot set anything else. Exit 0 is done, 65 permanent, anything else transient;
 * `stop_on` and `retry_on` change that.
 *
 * Bounded, whatever it does: its output is passed on up to pass_max bytes a stream
 * and attempt, and read to its end; it runs in a process group of its own, which gets
 * TERM and after kill_after_ns KILL; whatever it leaves behind in that group is
 * killed and waited for. If the worker is killed, the kernel kills it, and the guard
 * what it has started (queue/guard.h). */
#ifndef BIDE_QUEUE_COMMAND_H
#define BIDE_QUEUE_COMMAND_H

#include <signal.h>

#include "base/codes.h"
#include "queue/handler.h"

enum { QUEUE_EXIT_PERMANENT = 65 }; /* EX_DATAERR */

struct queue_command {
    struct queue_handler handler; /* first */
    char **argv;
    const sigset_t *mask;    /* of the command; NULL: ours */
    struct bide__codes stop_on, retry_on;
    int64_t kill_after_ns;
    size_t pass_max;         /* of output; 0: none is passed on */
};

extern const struct queue_handler_kind queue_command_kind;

#define QUEUE_COMMAND_INIT                                                     \
    {                                                                          \
        .handler = { &queue_command_kind },                                    \
        .kill_after_ns = INT64_C(5000000000), .pass_max = 1 << 20              \
    }

/* Whether the command can be executed: 0 or errno. */
int queue_command_find(const char *name);

#endif
