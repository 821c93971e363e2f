/* bide/error.h: what a bide function returns when it fails.
 *
 *     int rc = bide_dep_new(&dep, "payments", &conf);
 *     if (rc < 0) {
 *         fprintf(stderr, "payments: %s\n", bide_strerror(rc));
 *         return 1;
 *     }
 *
 * 0 is success, negative is an error. A retry that bide refuses is not an
 * error: it is a decision, and carries a bide_reason (bide/call.h). */
#ifndef BIDE_ERROR_H
#define BIDE_ERROR_H

#include "version.h"

BIDE_BEGIN_DECLS

/* X(name, value, text). Values never change and are never reused. */
#define BIDE_ERRORS(X)                                                         \
    X(BIDE_EINVAL, -1, "an argument is NULL or out of range")                  \
    X(BIDE_ENOMEM, -2, "out of memory")                                        \
    X(BIDE_ENAME, -3, "no such name")                                          \
    X(BIDE_ESTATE, -4, "not possible in this state")                           \
    X(BIDE_EENTROPY, -5, "the kernel gave no randomness to seed from")         \
    X(BIDE_EPARSE, -6, "the text does not follow its grammar")                 \
    X(BIDE_ERULE, -7, "a rule of the policy is not valid")                     \
    X(BIDE_ESIZE, -8,                                                          \
      "the program was compiled with the headers of another version of bide")

enum {
#define BIDE__X(name, value, text) name = value,
    BIDE_ERRORS(BIDE__X)
#undef BIDE__X
};

/* An invalid policy is refused with a code that names the field:
 * BIDE_EFIELD - n for row n of bide_policy_options() (bide/policy.h). */
enum { BIDE_EFIELD = -1000 };

/* Returns the name of a code: "BIDE_EINVAL", or for an invalid policy the key
 * of the field, as in "backoff.cap". Never NULL. */
BIDE_API const char *bide_error_name(int rc);

/* Returns a sentence that describes a code; for an invalid policy, the field
 * and what it accepts: "backoff.cap: expected a duration, not under
 * backoff.base". Never NULL, never to be freed. */
BIDE_API const char *bide_strerror(int rc);

BIDE_END_DECLS
#endif
