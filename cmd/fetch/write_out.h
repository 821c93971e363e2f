/* bide fetch: a text of the user's own at the end of a transfer. */
#ifndef BIDE_CMD_FETCH_WRITE_OUT_H
#define BIDE_CMD_FETCH_WRITE_OUT_H

#include <stdbool.h>

struct fetch_transfer;

/* Prints --write-out, if it was given. False: not all of it could be. */
bool fetch_write_out(const struct fetch_transfer *t);

#endif
