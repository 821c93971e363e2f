/* bide worker show --json: a message with all that is known about it, for a program. The
 * names are those of `ls --json`. */
#ifndef BIDE_CMD_WORKER_SHOW_JSON_H
#define BIDE_CMD_WORKER_SHOW_JSON_H

#include <stdbool.h>

#include "queue/broker.h"

/* Prints it. False: no memory for a body that is not text. */
bool show_json(const struct broker_row *row);

#endif
