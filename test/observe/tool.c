/* tool.c: what observe/ makes of the scene, for programs that are not ours to
 * look at.
 *
 *   observe_tool metrics                     as Prometheus scrapes it
 *   observe_tool spans|otlp-metrics [json]   as a collector is sent it
 *   observe_tool export URL [json] CALLS     through the exporter; prints what
 *                                            became of it as JSON
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bide/run.h"
#include "observe/export/exporter.h"
#include "observe/export/otlp.h"
#include "observe/export/prometheus.h"
#include "scene.h"

static struct scene scene;

static int print(struct bide__out *out)
{
    bool fine =
        !out->failed && fwrite(out->data, 1, out->len, stdout) == out->len;
    bide__out_done(out);
    return fine ? 0 : 1;
}

static struct bide__otlp_source source(void)
{
    return (struct bide__otlp_source){ "scene", "tool-1",
                                       INT64_C(1700000000) * BIDE_SECOND, 0 };
}

static int spans(bool json)
{
    struct bide__otlp_source from = source();
    struct bide__event e[3];
    struct bide__out out = { 0 };

    scene_events(e);
    bide__otlp_spans(&out, &from, json, e, 3);
    return print(&out);
}

static int otlp_metrics(bool json)
{
    struct bide__otlp_source from = source();
    struct bide__out out = { 0 };

    bide__otlp_metrics(&out, &from, json, &scene.observed, SCENE_NOW);
    return print(&out);
}

static const struct bide__observed *hold(void *ctx)
{
    (void)ctx;
    return &scene.observed;
}

static void release(void *ctx, const struct bide__observed *observed)
{
    (void)ctx;
    (void)observed;
}

static const struct bide__source program = { .program = "scene",
                                             .hold = hold,
                                             .release = release };

/* Until it is known of each span what became of it. */
static void await_end(struct bide__exporter *x, uint64_t spans,
                      struct bide__exporter_stats *ret)
{
    int64_t until = bide_now_ns() + BIDE_MINUTE;
    do {
        bide_sleep_until(bide_now_ns() + 10 * BIDE_MILLISECOND, NULL);
        bide__exporter_stats(x, ret);
    } while (ret->spans_sent + ret->spans_dropped < spans &&
             bide_now_ns() < until);
}

/* Says "given" when all is in the exporter's hands, then what became of it. */
static int export_calls(const char *url, bool json, int calls)
{
    struct bide__exporter_conf conf = BIDE__EXPORTER_CONF_INIT;
    struct bide__exporter *x;
    struct bide__exporter_stats s;
    struct bide__event e[3];

    conf.url = url;
    conf.json = json;
    conf.service = "scene";
    conf.max_spans = 1000;
    conf.batch = 100;
    conf.interval_ns = 50 * BIDE_MILLISECOND;
    conf.policy.backoff.base_ns = 10 * BIDE_MILLISECOND;
    conf.policy.attempt_timeout_ns = 30 * BIDE_SECOND;
    conf.source = &program;
    const char *mistake = bide__exporter_new(&x, &conf);
    if (mistake) {
        fprintf(stderr, "%s: %s\n", url, mistake);
        return 2;
    }
    scene_events(e);
    for (int i = 0; i < calls; i++)
        for (int k = 0; k < 3; k++) {
            memcpy(e[k].trace.trace_id, &i, sizeof i);
            bide__exporter_events(x, &e[k], 1);
        }
    puts("given");
    fflush(stdout);
    await_end(x, (uint64_t)calls * 3, &s);
    int64_t began = bide_now_ns();
    bide__exporter_free(x);
    printf(
        "{\"sent\":%llu,\"dropped\":%llu,\"failed\":%llu,\"free_ms\":%lld}\n",
        (unsigned long long)s.spans_sent, (unsigned long long)s.spans_dropped,
        (unsigned long long)s.batches_failed,
        (long long)((bide_now_ns() - began) / BIDE_MILLISECOND));
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    bool json = argc > 2 && strcmp(argv[argc > 3 ? 3 : 2], "json") == 0;
    struct bide__out out = { 0 };
    int rc = 2;

    scene_init(&scene);
    if (strcmp(what, "metrics") == 0) {
        bide__prometheus_write(&out, &scene.observed, SCENE_NOW);
        rc = print(&out);
    } else if (strcmp(what, "spans") == 0) {
        rc = spans(json);
    } else if (strcmp(what, "otlp-metrics") == 0) {
        rc = otlp_metrics(json);
    } else if (strcmp(what, "export") == 0 && argc > 3) {
        rc = export_calls(argv[2], json, atoi(argv[argc - 1]));
    }
    scene_done(&scene);
    return rc;
}
