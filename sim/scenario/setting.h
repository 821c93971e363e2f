/* Settings: changes to a model by a key and a text, for --sweep and the policy
 * flags.
 *
 *     sim_setting(draft, "backoff.base", "50ms", &expected);
 *     sim_setting(draft, "services.api.workers", "20", &expected);
 *
 *   backoff.base           an option of every policy that a fleet has, in any
 *                          variant
 *   policies.NAME.OPTION   of that policy only
 *   clients.NAME.KEY       as in a scenario: rate, count ...
 *   services.NAME.KEY      workers, queue.limit ...; time sets the mean of an
 *                          exponential, the median of a lognormal, and so on
 *   faults.N.KEY           of fault N, from 1: for, at ...
 *   load                   times the rate of every open fleet
 *
 * Threads: a draft is one thread's. */
#ifndef BIDE_SIM_SCENARIO_SETTING_H
#define BIDE_SIM_SCENARIO_SETTING_H

#include "sim/model/model_copy.h"

enum sim_set {
    SIM_SET_OK,
    SIM_SET_UNKNOWN, /* no such key in this model */
    SIM_SET_WRONG    /* invalid: *ret_expected says what is valid */
};

enum sim_set sim_setting(struct sim_model *draft, const char *key,
                         const char *text, const char **ret_expected);

/* All the keys that a model has; ends with NULL. sim_setting_keys_free(). */
char **sim_setting_keys(const struct sim_model *m);
void sim_setting_keys_free(char **keys);

#endif
