/* A program whose retries can be watched: in a browser, by Prometheus and by
 * `bide top`. It calls something that fails now and then, until its standard
 * input ends. */
#include <bide/observe.h>
#include <bide/run.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

/* One of three attempts fails. */
static bide_outcome ask(void *arg, const bide_attempt *attempt)
{
    (void)arg, (void)attempt;
    if (rand() % 3 == 0)
        return (bide_outcome){ .cls = BIDE_TRANSIENT };
    return BIDE_OUTCOME_SUCCESS;
}

/* With an HTTP server of its own, a program would answer /metrics with this. */
static void print_metrics(bide_observe *watch)
{
    size_t len = bide_observe_prometheus(watch, NULL, 0);
    char *text = malloc(len + 1);
    if (text) {
        bide_observe_prometheus(watch, text, len + 1);
        fputs(text, stdout);
    }
    free(text);
}

int main(int argc, char **argv)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.backoff.base_ns = BIDE_MILLISECOND;
    bide_dep *dep;
    if (bide_dep_new(&dep, "dice", &conf) < 0)
        return 1;

    bide_observe *watch;
    bide_observe_opts o = {
        .program = "observed",
        .deps = &dep,
        .n_deps = 1,
        .listen = argc > 1 ? argv[1] : "127.0.0.1:0",
        .otlp_url = argc > 2 ? argv[2] : NULL,
    };
    if (bide_observe_new(&watch, &o) < 0) {
        fprintf(stderr, "%s\n", o.why);
        return 1;
    }
    printf("http://127.0.0.1:%d/\n", bide_observe_port(watch));
    fflush(stdout);

    bide_run_opts opts = { .op.idempotent = true };
    struct pollfd in = { .fd = 0, .events = POLLIN };
    while (poll(&in, 1, 10) == 0)
        bide_run(dep, ask, NULL, &opts);
    print_metrics(watch);
    bide_observe_free(watch);
    bide_dep_free(dep);
    return 0;
}
