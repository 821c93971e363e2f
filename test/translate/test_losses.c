/* test_losses.c: nothing is dropped silently.
 *
 * Each option of the table is given each kind of value in each of several
 * policies, and exported everywhere. Then the document is another one, or the
 * report names the option with its value, or it is the default that the target
 * does not share: its report named the default, and the new value is what the
 * target does. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "config/field/option_value.h"
#include "sample.h"

static const struct target {
    const char *name;
    bide__exporter *write;
} targets[] = {
    { "gRPC", bide__export_grpc },
    { "Envoy", bide__export_envoy },
    { "Istio", bide__export_istio },
    { "the Gateway API", bide__export_gateway },
};

/* Policies in which other options come to have a meaning. */
static const char *const settings[][8] = {
    { NULL },
    { "attempts", "1", NULL },
    { "deadline", "5s", "backoff.jitter", "proportional", NULL },
    { "budget.kind", "quota", "breaker.kind", "count", NULL },
    { "budget.kind", "throttle", "breaker.slow", "1s", NULL },
    { "budget.kind", "in_flight", "breaker.kind", "off", NULL },
    { "budget.kind", "off", "breaker.consecutive", "7", NULL },
    { "breaker.mode", "dry_run", "limits.in_flight", "9", "limits.queue", "3",
      NULL },
    { "breaker.mode", "forced_open", "limits.adaptive_throttle", "true", NULL },
    { "attempts", "1", "hedge.max", "2", NULL },
    { "attempts", "1", "hedge.max", "2", "hedge.after", "80ms", NULL },
};

enum {
    N_TARGETS = sizeof targets / sizeof targets[0],
    N_SETTINGS = sizeof settings / sizeof settings[0]
};

static void make(bide_policy_conf *conf, const char *const *setting)
{
    const bide_policy_conf defaults = BIDE_POLICY_CONF_INIT;

    *conf = defaults;
    for (; *setting; setting += 2)
        assert_int_equal(
            bide__option_set(conf, setting[0], setting[1], strlen(setting[1])),
            0);
}

static bool tells(const char *report, const bide_policy_conf *conf,
                  const bide_option *o, const char *format)
{
    char value[BIDE__VALUE_TEXT], line[1024];

    snprintf(line, sizeof line, format, o->key,
             bide__option_text(conf, o, value, sizeof value));
    return strstr(report, line) != NULL;
}

static void check(const struct target *target, const bide_policy_conf *before,
                  const bide_policy_conf *after, const bide_option *o)
{
    const bide_policy_conf defaults = BIDE_POLICY_CONF_INIT;
    struct exported a = export_with(target->write, target->name, before);
    struct exported b = export_with(target->write, target->name, after);
    bool reflected = strcmp(a.document, b.document) != 0;
    bool named = tells(b.report, after, o, " %s: %s ");
    bool shared = tells(a.report, before, o, " %s %s") ||
                  tells(a.report, before, o, " %s: %s ");

    if (!reflected && !named && !shared &&
        !bide__option_same(after, &defaults, o)) {
        char value[BIDE__VALUE_TEXT];

        fail_msg("%s drops %s: %s\n%s", target->name, o->key,
                 bide__option_text(after, o, value, sizeof value), b.report);
    }
    exported_free(&a);
    exported_free(&b);
}

static int try_value(const bide_policy_conf *before, const bide_option *o,
                     const char *text)
{
    bide_policy_conf after = *before;

    if (bide__option_set(&after, o->key, text, strlen(text)) < 0 ||
        bide__option_same(before, &after, o) || bide_policy_check(&after) < 0)
        return 0;
    for (size_t i = 0; i < N_TARGETS; i++)
        check(&targets[i], before, &after, o);
    return 1;
}

static int try_option(const bide_policy_conf *before, const bide_option *o)
{
    static const char *const values[] = {
        "0",     "1",     "2",   "7",   "100", "0.5",   "0.123", "0",    "3ms",
        "700us", "400ms", "20s", "11m", "30m", "2.5/s", "true",  "false"
    };
    int tried = 0;

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        tried += try_value(before, o, values[i]);
    for (int i = 0; o->choices && o->choices[i]; i++)
        tried += try_value(before, o, o->choices[i]);
    if (o->special)
        tried += try_value(before, o, o->special);
    return tried;
}

static void losses_every_option_is_told_or_reflected(void **state)
{
    size_t n;
    const bide_option *options = bide_policy_options(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        int tried = 0;

        for (size_t s = 0; s < N_SETTINGS; s++) {
            bide_policy_conf before;

            make(&before, settings[s]);
            tried += try_option(&before, &options[i]);
        }
        if (tried < 2)
            fail_msg("%s was hardly tried", options[i].key);
    }
}

/* ===== rules ===== */

static const struct rule_row {
    bide_rule rule;
    const char *told[4]; /* by each target, in order; NULL: nothing */
} rule_rows[] = {
    { { .status_min = 404, .status_max = 404, .cls = BIDE_TRANSIENT },
      { "retry_on.status: 404, 408", NULL, NULL, NULL } },
    { { .status_min = 598, .status_max = 598, .cls = BIDE_TRANSIENT },
      { "retry_on.status: 408", NULL, "retry_on.status: 598 is lost", NULL } },
    { { .grpc = 1u << BIDE_GRPC_ABORTED, .cls = BIDE_TRANSIENT },
      { NULL, "retry_on.grpc: ABORTED is lost", "retry_on.grpc: ABORTED",
        "retry_on.grpc: " } },
    { { .faults = 1u << BIDE_FAULT_TLS, .cls = BIDE_TRANSIENT },
      { "retry_on.errors: ", "retry_on.errors: tls is lost",
        "retry_on.errors: tls is lost", "retry_on.errors: " } },
    { { .faults = 1u << BIDE_FAULT_DNS, .cls = BIDE_PERMANENT },
      { "retry_on.errors: ", "connect became connect-failure",
        "connect became connect-failure", "retry_on.errors: " } },
    { { .status_min = 503,
        .status_max = 503,
        .method = "POST",
        .cls = BIDE_PERMANENT },
      { "rules[0]: 503 POST -> permanent is lost", "rules[0]: 503 POST",
        "rules[0]: 503 POST", "rules[0]: 503 POST" } },
    { { .problem_type = "urn:busy", .cls = BIDE_THROTTLED },
      { "rules[0]: urn:busy -> throttled is lost", "rules[0]: urn:busy",
        "rules[0]: urn:busy", "rules[0]: urn:busy" } },
    { { .status_min = 503,
        .status_max = 503,
        .cls = BIDE_TRANSIENT,
        .not_processed = true },
      { "not processed is lost", "not processed is lost",
        "not processed is lost", "not processed is lost" } },
    { { .status_min = 404, .status_max = 404, .cls = BIDE_SUCCESS },
      { "became \"not retried\"", "became \"not retried\"",
        "became \"not retried\"", "became \"not retried\"" } },
};

static void losses_rules_are_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rule_rows / sizeof rule_rows[0]; i++) {
        bide_policy_conf conf = BIDE_POLICY_CONF_INIT;

        conf.rules = &rule_rows[i].rule;
        conf.n_rules = 1;
        for (size_t t = 0; t < N_TARGETS; t++) {
            struct exported e =
                export_with(targets[t].write, targets[t].name, &conf);
            const char *told = rule_rows[i].told[t];

            if (told ? !strstr(e.report, told)
                     : strstr(e.report, "rules[") ||
                           strstr(e.report, "retry_on"))
                fail_msg("row %zu, %s:\n%s", i, targets[t].name, e.report);
            exported_free(&e);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_every_option_is_told_or_reflected),
        cmocka_unit_test(losses_rules_are_told),
    };

    return cmocka_run_group_tests_name("losses", tests, NULL, NULL);
}
