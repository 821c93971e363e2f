/* test_config_alloc.c: memory runs out at the nth allocation, for every n.
 *
 * The linker sends the calls of config/ to malloc and its kin through here
 * (--wrap), and those to yaml_parser_parse, since libyaml's own allocations are
 * out of reach: there the parser says that it has no memory. Whatever fails,
 * the answer is BIDE_ENOMEM or what it was without the failure, nothing leaks
 * (a sanitizer or valgrind sees to that), and the config is untouched. */
#include "config/lint/rules.h"
#include "findings.h"

#include "../failing_alloc.h"

/* Parses and lints with the nth allocation failing. */
static int attempt(const char *name, const char *text, long n, bool with_notes)
{
    bide_diagnostics *notes = NULL;
    bide_config *config = NULL;
    int rc;

    if (with_notes)
        notes = bide_diagnostics_new();
    failed = false;
    left = n;
    rc = bide_config_parse(&config, name, text, strlen(text), notes);
    if (rc == 0)
        bide__lint(config, NULL, notes);
    left = -1;
    assert_true((rc == 0) == (config != NULL));
    bide_config_free(config);
    bide_diagnostics_free(notes);
    return rc;
}

static void must_survive(const char *name, const char *text)
{
    for (int with_notes = 0; with_notes < 2; with_notes++) {
        int want = attempt(name, text, -1, with_notes);
        long n = 0;

        do {
            int rc = attempt(name, text, n++, with_notes);

            if (rc != want && rc != BIDE_ENOMEM)
                fail_msg("allocation %ld: %d instead of %d", n, rc, want);
            if (rc == BIDE_ENOMEM && !failed)
                fail_msg("out of memory with memory left");
        } while (failed);
        assert_true(n > 3);
    }
}

#define HEAD "version: 1\npolicies:\n"

static void alloc_failure_in_a_good_file(void **state)
{
    (void)state;
    must_survive("t.yaml",
                 HEAD "  a: &a { attempts: 4, backoff: { base: 1s, jitter: none"
                      " }, retry_on: { status: [404, 500-599] } }\n"
                      "  b: { extends: a, deadline: 1s,\n"
                      "       rules: [{ status: 409, class: transient }] }\n"
                      "  c: *a\n"
                      "  d: { preset: grpc, service: { depth: 3 } }\n"
                      "proxy: { routes: [{ upstream: u, policy: a }],\n"
                      "  listen: [127.0.0.1:80], admin: unix:/a,\n"
                      "  trusted: 10.0.0.0/8,\n"
                      "  upstreams: { u: { endpoints: [\"http://u\"] } } }\n");
}

static void alloc_failure_in_a_bad_file(void **state)
{
    (void)state;
    must_survive("t.yaml", HEAD
                 "  a: { atempts: 4, attempts: 0, base: 1s, deadline: 5 }\n"
                 "  a: { extends: b, backoff: { base: 1h, jitter: ful } }\n"
                 "  b: { extends: a, preset: nothing, \"\\e\": 1 }\n"
                 "  c: *nothing\n"
                 "  d: { retry_on: { status: [1], errors: [x] } }\n"
                 "proxy: { listen: localhost:80, trusted: 10.0.0.1/8, x: 1,\n"
                 "  routes: [{ upstream: v }], upstreams: { u: 1 } }\n"
                 "other: !x 1\n");
    must_survive("t.yaml", "a: [\n");
    must_survive("t.yaml", "");
}

static void alloc_failure_in_json(void **state)
{
    (void)state;
    must_survive("t.json",
                 "{\"version\": 1, \"policies\": {\"a\": {\"attempts\":"
                 " 4, \"x\": [1, true, \"\\u0041\"], \"x\": {}}}}");
    must_survive("t.json", "{\"version\": 1,}");
}

static void alloc_failure_with_many_keys(void **state)
{
    char text[4096] = HEAD;

    (void)state;
    for (int i = 0; i < 100; i++)
        sprintf(text + strlen(text), "  p%d: {}\n", i);
    must_survive("t.yaml", text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alloc_failure_in_a_good_file),
        cmocka_unit_test(alloc_failure_in_a_bad_file),
        cmocka_unit_test(alloc_failure_in_json),
        cmocka_unit_test(alloc_failure_with_many_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
