/* A whole program: a policy from a file, around what fails twice, then works. */
#include <bide/config.h>
#include <bide/run.h>
#include <stdio.h>

static bide_outcome ask(void *arg, const bide_attempt *attempt)
{
    printf("attempt %u of %s\n", attempt->number, (const char *)arg);
    if (attempt->number < 3)
        return (bide_outcome){ .cls = BIDE_TRANSIENT }; /* "try me later" */
    return BIDE_OUTCOME_SUCCESS;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "examples/policy.yaml";
    bide_diagnostics *notes = bide_diagnostics_new();
    bide_config *file;
    if (bide_config_read(&file, path, notes) < 0) {
        bide_diagnostics_print(notes, stderr, false); /* what is meant */
        return 2;
    }
    bide_dep *dep;
    if (bide_dep_new(&dep, "example", bide_config_policy(file, "default")) < 0)
        return 1;
    bide_run_opts twice_is_fine = { .op.idempotent = true };
    bide_reason why = bide_run(dep, ask, "the example", &twice_is_fine);
    printf("%s: %s\n", bide_reason_name(why), bide_reason_text(why));
    bide_dep_free(dep);
    bide_config_free(file);
    bide_diagnostics_free(notes);
    return why != BIDE_BECAUSE_SUCCESS;
}
