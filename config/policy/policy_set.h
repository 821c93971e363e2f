/* One option of a policy, set by a line such as `budget.capacity=5`. */
#ifndef BIDE_CONFIG_POLICY_POLICY_SET_H
#define BIDE_CONFIG_POLICY_POLICY_SET_H

#include "bide/config.h"
#include "bide/policy.h"

/* Sets the option. `from` is who says so ("--set"), in place of a file's name:
 * a mistake is shown as in a file, with the line and the place in it. Returns
 * the option, or NULL after a mistake; *ret_value, which may be NULL, is set to
 * where its value begins in the line. */
const bide_option *bide__policy_set(bide_policy_conf *conf, const char *from,
                                    const char *line, bide_diagnostics *notes,
                                    const char **ret_value);

#endif
