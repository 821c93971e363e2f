/* Scenarios: models read from YAML (or JSON), with the diagnostics of policy
 * files.
 *
 *     struct sim_model *model;
 *     bide_diagnostics *notes = bide_diagnostics_new();
 *     if (sim_scenario_read(&model, "storm.yaml", notes) < 0)
 *         bide_diagnostics_print(notes, stderr, false);   // every mistake
 *     ...
 *     sim_model_free(model);
 *
 * A scenario file holds `version`, `scenario`, `policies` (as in a policy
 * file), `clients`, `services`, `faults` and `variants`;
 * sim_scenario_reference() lists all its keys. What would run but is probably
 * not intended (a service that is never called, a fault after the end) gives a
 * warning. */
#ifndef BIDE_SIM_SCENARIO_SCENARIO_H
#define BIDE_SIM_SCENARIO_SCENARIO_H

#include <stdio.h>

#include "bide/config.h"
#include "sim/model/model.h"

/* Reads a file ("-": standard input), or a text that is called `name`; paths of
 * logs to replay are relative to it. After an error, BIDE_EPARSE: the
 * findings are in `notes` (which may be NULL), and *ret is unchanged. Also
 * BIDE_ENOMEM, BIDE_EINVAL. */
int sim_scenario_read(struct sim_model **ret, const char *path,
                      bide_diagnostics *notes);
int sim_scenario_parse(struct sim_model **ret, const char *name,
                       const char *text, size_t len, bide_diagnostics *notes);

/* Whether a text looks like a scenario and not like a policy file: it has a
 * top-level key that only scenarios have. */
bool sim_scenario_is(const char *text, size_t len);

#endif
