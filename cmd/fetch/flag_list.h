/* bide fetch: the flags there are. `bide` knows them as well, so that it can
 * tell which arguments nobody else should see (secrets.h). */
#ifndef BIDE_CMD_FETCH_FLAG_LIST_H
#define BIDE_CMD_FETCH_FLAG_LIST_H

#include <stddef.h>

#include "cmd/common/flags.h"

extern const struct flag fetch_flag_list[];

/* The flag of that name, or of that letter, where len is 1 and the name is not
 * one; NULL if there is none. */
const struct flag *fetch_flag_named(const char *name, size_t len);
const struct flag *fetch_flag_lettered(char letter);

#endif
