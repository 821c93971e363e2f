/* The simulator at scale: 10 000, 100 000 and a million clients through ten
 * minutes with an outage of one in the middle.
 *
 * Closed loop: a client thinks for 10 s on average, then calls; the service has
 * half again as many workers as it needs. From 4:30 to 5:30 it stops. The clients
 * run in 100 processes with the default policy: full jitter, retry budget, breaker
 * and latency on, and attempts are given up after 2 s. Each size runs in a process
 * of its own, so that its memory is its own, too. */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#include "sim/world/stage.h"

/* What one run took, as the child tells its parent. */
struct cost {
    double seconds;
    double events, calls;
    double success;
};

static struct sim_result *run(uint32_t clients)
{
    const double think_ns = 10e9, work_ns = 100e6;
    double busy = clients * work_ns / (think_ns + work_ns);
    struct sim_model_policy policy = { .name = (char[]){ "default" },
                                       .conf = BIDE_POLICY_CONF_INIT };
    struct sim_model_fleet fleet = { .name = (char[]){ "clients" },
                                     .arrival = SIM_CLOSED,
                                     .clients = clients,
                                     .processes = 100,
                                     .think = sim_exponential(think_ns) };
    struct sim_model_service service = { .name = (char[]){ "service" },
                                         .workers = (uint32_t)(1.5 * busy),
                                         .shards = 1,
                                         .time = sim_exponential(work_ns),
                                         .queue = SIM_UNBOUNDED };
    struct sim_fault stop = { .kind = SIM_STOP,
                              .shard = SIM_NONE,
                              .fleet = SIM_NONE,
                              .from_ns = 270 * BIDE_SECOND,
                              .to_ns = 330 * BIDE_SECOND };
    struct sim_model model = { .duration_ns = 600 * BIDE_SECOND,
                               .policies = &policy, .n_policies = 1,
                               .fleets = &fleet, .n_fleets = 1,
                               .services = &service, .n_services = 1,
                               .faults = &stop, .n_faults = 1 };
    policy.conf.attempt_timeout_ns = 2 * BIDE_SECOND;
    return sim_run(&model, SIM_NONE, 1, NULL);
}

static void measure(uint32_t clients, int out)
{
    int64_t start = bench_clock_ns();
    struct sim_result *r = run(clients);
    struct cost cost = { (double)(bench_clock_ns() - start) / 1e9,
                         (double)r->events, (double)r->callers[0].total.calls,
                         r->figure[SIM_FIG_SUCCESS] };
    if (write(out, &cost, sizeof cost) != (ssize_t)sizeof cost)
        _exit(1);
    _exit(0);
}

/* In a child; its memory at the most is in *ret_mb. */
static struct cost in_a_child(uint32_t clients, double *ret_mb)
{
    struct cost cost = { 0, 0, 0, 0 };
    struct rusage usage;
    int ends[2], status;
    if (pipe(ends) != 0)
        exit(1);
    pid_t child = fork();
    if (child == 0)
        measure(clients, ends[1]);
    close(ends[1]);
    ssize_t n = read(ends[0], &cost, sizeof cost);
    close(ends[0]);
    if (wait4(child, &status, 0, &usage) != child || status != 0 ||
        n != (ssize_t)sizeof cost)
        exit(1);
    *ret_mb = (double)usage.ru_maxrss / 1024;
    return cost;
}

enum { SIZES = 3, ROUNDS = 3 };

static int earlier(const void *a, const void *b)
{
    double x = ((const struct cost *)a)->seconds;
    double y = ((const struct cost *)b)->seconds;
    return (x > y) - (x < y);
}

int main(void)
{
    static const uint32_t sizes[SIZES] = { 10000, 100000, 1000000 };
    static struct cost cost[SIZES][ROUNDS];
    double mb[SIZES];
    bench_pin(0);
    printf("\nsimulator at scale: ten minutes, an outage of one, default policy; "
           "medians of %d\n"
           "  %9s %9s %8s %9s %9s %11s %8s %9s\n",
           ROUNDS, "clients", "calls", "seconds", "Mevents/s", "us/client",
           "MB at most", "B/client", "success");
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < SIZES; i++)
            cost[i][round] = in_a_child(sizes[i], &mb[i]);
    for (int i = 0; i < SIZES; i++) {
        qsort(cost[i], ROUNDS, sizeof cost[i][0], earlier);
        struct cost c = cost[i][ROUNDS / 2];
        printf("  %9u %9.0f %8.2f %9.2f %9.2f %11.0f %8.0f %8.2f%%\n", sizes[i],
               c.calls, c.seconds, c.events / c.seconds / 1e6,
               c.seconds * 1e6 / sizes[i], mb[i], mb[i] * 1048576 / sizes[i],
               100 * c.success);
    }
    double last = cost[2][ROUNDS / 2].seconds;
    printf("  a million clients: bar 30 s: %s, bar 1 GB: %s\n",
           bench_verdict(last < 30), bench_verdict(mb[2] < 1024));
    printf("  the time of ten times the clients: %.1f and %.1f times as much\n",
           cost[1][ROUNDS / 2].seconds / cost[0][ROUNDS / 2].seconds,
           last / cost[1][ROUNDS / 2].seconds);
    return 0;
}
