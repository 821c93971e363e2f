/* scenario.c: any bytes as a scenario, as YAML and as JSON.
 *
 * What is accepted passes the check that models made by hand have to pass; what
 * is refused has at least one mistake to show for it, and its places lie in the
 * text. Nothing is run: a scenario may well ask for a million clients. */
#include <stdint.h>
#include <stdlib.h>

#include "sim/scenario/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int truth)
{
    if (!truth)
        abort();
}

static void check_findings(const bide_diagnostics *notes, size_t size)
{
    const bide_diagnostic *d;

    for (size_t i = 0; (d = bide_diagnostics_at(notes, i)); i++) {
        must(d->code && d->file && d->message && *d->message);
        must(d->line <= size + 1 && d->column <= size + 1);
    }
}

static void check(const char *name, const uint8_t *data, size_t size)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    struct sim_model *model = NULL;
    int rc = sim_scenario_parse(&model, name, (const char *)data, size, notes);

    must((rc == 0) == (model != NULL));
    must((rc == 0) == (bide_diagnostics_count(notes, BIDE_MISTAKE) == 0));
    must(rc == 0 || rc == BIDE_EPARSE);
    must(!model || sim_model_check(model) == NULL);
    check_findings(notes, size);
    sim_scenario_is((const char *)data, size);
    sim_model_free(model);
    bide_diagnostics_free(notes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check("f.yaml", data, size);
    check("f.json", data, size);
    return 0;
}
