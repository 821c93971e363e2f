/* bide run --key: what invocations with one key share, and which keys there
 * are. */
#ifndef BIDE_CMD_RUN_STATE_H
#define BIDE_CMD_RUN_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bide/dep.h"

#define STATE_SUFFIX ".state"

/* How a file begins. */
struct state_header {
    char magic[16];
    uint32_t version;
    uint32_t page;
    uint64_t size; /* of the shared part */
    char boot[40];
};

/* What the last invocation has left for people to read; behind the header. All
 * zero: none has ended yet. */
struct state_note {
    int64_t written_s;     /* since 1970 */
    int64_t open_until_ns; /* monotonic; 0: it is not open */
    int64_t budget_left;
    uint64_t runs, failed;
    uint64_t breaker; /* a bide_breaker_state */
};

enum { STATE_NOTE_AT = 512 };

/* Makes a dependency whose state lies in the file of that key. 0, or what was
 * in the way, told in `problem`. */
int state_open(bide_dep **ret_dep, const char *key,
               const bide_policy_conf *conf, char *problem, size_t size);

/* Leaves a note in the file that state_open() has opened. */
void state_note(const bide_dep *dep, int64_t now);

/* The directory of the files: a descriptor, or -1 as above. It is made if it is
 * not there. */
int state_dir(char *problem, size_t size);

/* Whether a file is one of this version and of this boot. */
bool state_is_current(const struct state_header *h);

/* ===== keys.c ===== */

/* Prints the keys there are. An exit code. */
int keys_list(bool json);

/* Forgets one. An exit code, or -1 to go on. */
int keys_reset(const char *key, bool quiet);

#endif
