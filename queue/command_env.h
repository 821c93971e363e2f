/* queue/command_env.h: the environment of a command that handles a message. */
#ifndef BIDE_QUEUE_COMMAND_ENV_H
#define BIDE_QUEUE_COMMAND_ENV_H

#include "base/out.h"
#include "queue/handler.h"

/* Ours without any BIDE_..., and what the message says. One block of memory, to
 * be freed with bide__out_done(out). NULL: no memory. */
char **queue_command_env(struct bide__out *out, const struct queue_job *job);

#endif
