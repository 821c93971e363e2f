/* test_prometheus.c: the lines of a scrape. That a real Prometheus takes them
 * is test/observe/prometheus.py's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "observe/export/metrics.h"
#include "observe/export/prometheus.h"
#include "scene.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct bide__out out; /* of the last scrape */

static int tidy(void **state)
{
    (void)state;
    bide__out_done(&out);
    return 0;
}

static char *scrape(const struct bide__observed *w)
{
    bide__out_done(&out);
    bide__prometheus_write(&out, w, SCENE_NOW);
    assert_false(out.failed);
    bide__out_char(&out, '\0');
    return out.data;
}

/* The line is there, as a whole line. */
static void expect_line(const char *text, const char *line)
{
    char with[512];

    snprintf(with, sizeof with, "\n%s\n", line);
    if (!strstr(text, with))
        fail_msg("no line `%s` in:\n%s", line, text);
}

static void prometheus_says_what_happened(void **state)
{
    static const char *const lines[] = {
        "# TYPE bide_calls_total counter",
        "bide_calls_total{dep=\"pay\",result=\"first_success\"} 3",
        "bide_calls_total{dep=\"pay\",result=\"late_success\"} 1",
        "bide_calls_total{dep=\"pay\",result=\"failure\"} 2",
        "bide_attempts_total{dep=\"pay\",class=\"success\"} 4",
        "bide_attempts_total{dep=\"pay\",class=\"transient\"} 6",
        "bide_attempts_total{dep=\"pay\",class=\"permanent\"} 1",
        "bide_attempts_total{dep=\"pay\",class=\"overloaded\"} 0",
        "bide_refused_total{dep=\"pay\",reason=\"permanent\"} 1",
        "bide_refused_total{dep=\"pay\",reason=\"attempts\"} 1",
        "bide_refused_total{dep=\"pay\",reason=\"budget\"} 0",
        "bide_retries_total{dep=\"pay\",reason=\"backoff\"} 5",
        "bide_retries_total{dep=\"pay\",reason=\"hint\"} 0",
        "bide_retried_failures_total{dep=\"pay\",class=\"transient\"} 5",
        "bide_breaker_transitions_total{dep=\"pay\",to=\"open\"} 1",
        "# TYPE bide_breaker_state gauge",
        "# TYPE bide_wait_seconds histogram",
        "bide_wait_seconds_count{dep=\"pay\",stage=\"computed\"} 5",
        "bide_wait_seconds_sum{dep=\"pay\",stage=\"computed\"} 1",
        "bide_wait_seconds_count{dep=\"pay\",stage=\"slept\"} 5",
        "bide_call_seconds_count{dep=\"pay\",retry_time=\"with\"} 4",
        "bide_call_seconds_count{dep=\"pay\",retry_time=\"without\"} 4",
        "bide_call_seconds_bucket{dep=\"pay\",retry_time=\"without\",le=\"+"
        "Inf\"} 4",
        "bide_call_seconds_bucket{dep=\"pay\",retry_time=\"without\",le=\"0."
        "016384\"} 4",
        "bide_call_seconds_bucket{dep=\"pay\",retry_time=\"without\",le=\"0."
        "008192\"} 0",
        "bide_call_seconds_bucket{dep=\"pay\",retry_time=\"with\",le=\"0."
        "016384\"} 3",
        "bide_endpoint_up{upstream=\"pay\",endpoint=\"127.0.0.1:9001\"} 1",
        "bide_endpoint_up{upstream=\"pay\",endpoint=\"127.0.0.1:9002\"} 0",
        "bide_connections{side=\"client\"} 12",
        "# TYPE bide_spans_dropped_total counter",
        "bide_spans_dropped_total 3",
    };
    struct scene s;

    (void)state;
    scene_init(&s);
    const char *text = scrape(&s.observed);
    for (size_t i = 0; i < COUNT(lines); i++)
        expect_line(text, lines[i]);
    scene_done(&s);
}

static void prometheus_hedges(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    s.deps[1].name = "search";
    const char *text = scrape(&s.observed);
    expect_line(text, "bide_hedges_total{dep=\"search\"} 2");
    expect_line(text, "bide_hedges_won_total{dep=\"search\"} 1");
    expect_line(text, "bide_budget_remaining{dep=\"search\"} +Inf");
    expect_line(text, "bide_amplification_ratio{dep=\"search\"} 2");
    scene_done(&s);
}

static void prometheus_labels_are_escaped(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    expect_line(scrape(&s.observed),
                "bide_queued{dep=\"se\\\"ar\\\\ch\\n\xef\xbf\xbd\"} 0");
    scene_done(&s);
}

/* Each name has its comments once, before its first line. */
static void prometheus_families_stand_together(void **state)
{
    struct scene s;
    char seen[64][64];
    size_t n = 0;

    (void)state;
    scene_init(&s);
    for (char *line = strtok(scrape(&s.observed), "\n"); line;
         line = strtok(NULL, "\n")) {
        char name[64];
        if (sscanf(line, "# TYPE %63s", name) != 1)
            continue;
        for (size_t i = 0; i < n; i++)
            assert_string_not_equal(seen[i], name);
        assert_true(n < COUNT(seen));
        strcpy(seen[n++], name);
    }
    assert_true(n > 20);
    scene_done(&s);
}

static void prometheus_of_nothing_is_empty(void **state)
{
    struct bide__observed none = { 0 };

    (void)state;
    assert_string_equal(scrape(&none), "");
}

/* The coarse buckets hold what the engine's hold: every one in its place. */
static void metric_buckets_keep_every_sample(void **state)
{
    uint64_t counts[BIDE__METRIC_BOUNDS + 1];

    (void)state;
    for (unsigned b = 0; b < BIDE_N_BUCKETS; b++) {
        bide_histogram h = { .count = 1 };
        h.bucket[b] = 1;
        bide__metric_buckets(&h, counts);
        for (unsigned i = 0; i < COUNT(counts); i++) {
            bool over =
                i == 0 || bide_bucket_ns(b) >= bide__metric_bound_ns(i - 1);
            bool under = i == BIDE__METRIC_BOUNDS ||
                         bide_bucket_ns(b + 1) <= bide__metric_bound_ns(i);
            assert_int_equal(counts[i], over && under);
        }
    }
    assert_int_equal(bide__metric_bound_ns(0), 32000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prometheus_says_what_happened),
        cmocka_unit_test(prometheus_hedges),
        cmocka_unit_test(prometheus_labels_are_escaped),
        cmocka_unit_test(prometheus_families_stand_together),
        cmocka_unit_test(prometheus_of_nothing_is_empty),
        cmocka_unit_test(metric_buckets_keep_every_sample),
    };
    return cmocka_run_group_tests(tests, NULL, tidy);
}
