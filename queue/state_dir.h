/* queue/state_dir.h: where bide keeps what must survive it. */
#ifndef BIDE_QUEUE_STATE_DIR_H
#define BIDE_QUEUE_STATE_DIR_H

#include <stdbool.h>
#include <stddef.h>

/* "sqlite:" and the folder: $XDG_STATE_HOME/bide, or ~/.local/state/bide;
 * /var/lib/bide for root; $STATE_DIRECTORY under systemd. Made with mode 0700
 * if `create`. 0, or -1 and why in `error` (BROKER_ERROR bytes). */
int state_dir(char *to, size_t size, bool create, char *error);

#endif
