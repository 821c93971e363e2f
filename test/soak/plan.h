/* What request number n is, and what must come of it: both follow from n alone, so
 * that a run with hostile clients can be held against what it would be without. */
#ifndef BIDE_TEST_PLAN_H
#define BIDE_TEST_PLAN_H

#include <stddef.h>

enum { PLAN_MAX = 1 << 16 };

struct plan {
    int status;       /* of the answer that the client gets */
    unsigned attempts;
    char body[32];    /* of a good answer; "" if it is not looked at */
};

/* Writes the request to `out`, which has PLAN_MAX bytes; gives its length. */
size_t plan_make(struct plan *plan, unsigned long number, char *out);

#endif
