/* test_scenario_alloc.c: memory runs out at the nth allocation while a scenario
 * is read, for every n. As test_config_alloc.c does it for policy files:
 * whatever fails, the answer is BIDE_ENOMEM or what it was without the failure,
 * nothing leaks, and the model is untouched. */
#include "findings.h"

#include "../failing_alloc.h"
#include "sim/scenario/builtin.h"
#include "sim/scenario/scenario.h"

/* Parses with the nth allocation failing. */
static int attempt(const char *text, size_t len, long n, bool with_notes)
{
    bide_diagnostics *notes = with_notes ? bide_diagnostics_new() : NULL;
    struct sim_model *model = NULL;
    int rc;

    failed = false;
    left = n;
    rc = sim_scenario_parse(&model, "t.yaml", text, len, notes);
    left = -1;
    assert_true((rc == 0) == (model != NULL));
    sim_model_free(model);
    bide_diagnostics_free(notes);
    return rc;
}

static void must_survive(const char *text, size_t len)
{
    for (int with_notes = 0; with_notes < 2; with_notes++) {
        int want = attempt(text, len, -1, with_notes);
        long n = 0;

        do {
            int rc = attempt(text, len, n++, with_notes);

            if (rc != want && rc != BIDE_ENOMEM)
                fail_msg("allocation %ld: %d instead of %d", n, rc, want);
            if (rc == BIDE_ENOMEM && !failed)
                fail_msg("out of memory with memory left");
        } while (failed);
        assert_true(n > 3);
    }
}

static void alloc_failure_in_good_scenarios(void **state)
{
    static const char *const names[] = { "every-layer", "tail-latency",
                                         "double-charge", "mixed-fleet" };

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct sim_builtin *b = sim_builtin_find(names[i]);

        assert_non_null(b);
        must_survive(b->text, b->len);
    }
}

static void alloc_failure_in_bad_scenarios(void **state)
{
    static const char *const texts[] = {
        "",
        "scenario: [\n",
        "version: 1\nscenario: { duration: 5, title: [] }\n"
        "policies: { default: { atempts: 1 } }\n"
        "clients: { web: { rat: 1, calls: x }, old: { replay: none.log } }\n"
        "services: { a: { calls: b, time: { mixture: [ { share: 1% } ] } }, "
        "b: { calls: a } }\n"
        "faults: [ { at: 1s }, 3 ]\nvariants: { v: { x: y }, w: z }\n",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++)
        must_survive(texts[i], strlen(texts[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alloc_failure_in_good_scenarios),
        cmocka_unit_test(alloc_failure_in_bad_scenarios),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
