/* The smallest whole program: something that fails twice, and then works. */
#include <bide/run.h>
#include <stdio.h>

static bide_outcome ask(void *arg, const bide_attempt *attempt)
{
    printf("attempt %u of %s\n", attempt->number, (const char *)arg);
    if (attempt->number < 3)
        return (bide_outcome){ .cls = BIDE_TRANSIENT }; /* "try me later" */
    return BIDE_OUTCOME_SUCCESS;
}

int main(void)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT; /* every default: policy.h */
    bide_dep *dep;
    if (bide_dep_new(&dep, "example", &conf) < 0)
        return 1;
    bide_run_opts twice_is_fine = { .op.idempotent = true };
    bide_reason why = bide_run(dep, ask, "the example", &twice_is_fine);
    printf("%s: %s\n", bide_reason_name(why), bide_reason_text(why));
    bide_dep_free(dep);
    return why != BIDE_BECAUSE_SUCCESS;
}
