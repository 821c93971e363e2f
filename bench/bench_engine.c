/* What the engine costs: per call, per decision, per draw, in bytes.
 *
 * Used as an application uses it: the public headers and the library. The clock
 * is not in the figures, since the engine never reads it: `now` goes up by a
 * microsecond from call to call. For comparison, measured in the same rounds: a
 * relaxed atomic add and a clock read. */
#define _GNU_SOURCE
#include "bench.h"

#include <bide/bide.h>

enum { STEP_NS = 1000, TOOK_NS = 800 };

static bide_dep *new_dep(const bide_policy_conf *conf)
{
    bide_dep *dep;
    int rc = bide_dep_new(&dep, "bench", conf);
    if (rc < 0) {
        fprintf(stderr, "bench: %s\n", bide_strerror(rc));
        exit(1);
    }
    return dep;
}

/* ===== successful calls ===== */

/* One thread's view of a dependency: on a cache line of its own, as a stack
 * would be. */
struct caller {
    _Alignas(128) bide_dep *dep;
    int64_t now;
};

/* The loop of bide/call.h, with nothing in it. */
static void call_and_succeed(void *arg, int64_t n)
{
    struct caller *caller = arg;
    const bide_op op = { .idempotent = true };
    for (int64_t i = 0; i < n; i++, caller->now += STEP_NS) {
        int64_t now = caller->now;
        bide_call call;
        bide_call_begin(&call, caller->dep, &op, now);
        for (;;) {
            bide_decision d = bide_call_next(&call, now);
            if (d.action == BIDE_DONE)
                break;
            if (d.action == BIDE_WAIT) {
                now = d.at_ns;
                continue;
            }
            bide_outcome out = BIDE_OUTCOME_SUCCESS;
            now += TOOK_NS;
            bide_call_report(&call, d.attempt, &out, now);
        }
        bide_call_end(&call, now);
    }
}

enum { CALLS = 1000000, CALLS_IN_CHUNK = 2000 };

static struct caller alone, sharing[2], apart[2], one_lane[2];

static double one_thread(void)
{
    int64_t start = bench_clock_ns();
    call_and_succeed(&alone, CALLS);
    return (double)(bench_clock_ns() - start) / CALLS;
}

static double two_on_one(void)
{
    return bench_both(call_and_succeed, &sharing[0], &sharing[1],
                      CALLS_IN_CHUNK);
}

static double two_on_two(void)
{
    return bench_both(call_and_succeed, &apart[0], &apart[1], CALLS_IN_CHUNK);
}

/* What it would be if the threads counted in the same place. */
static double two_on_one_lane(void)
{
    return bench_both(call_and_succeed, &one_lane[0], &one_lane[1],
                      CALLS_IN_CHUNK);
}

/* ===== retries ===== */

enum { FAILING = 256, FAILURES = 200 };

static bide_dep *failing;
static int64_t failing_now;
static bide_call calls[FAILING];

/* All the calls have an attempt running; then all fail, and are told to wait.
 * Only this last part is timed. */
static double decision_to_retry(void)
{
    const bide_outcome bad = { .cls = BIDE_TRANSIENT, .status = 503 };
    const bide_op op = { .idempotent = true };
    int64_t spent = 0;
    for (int round = 0; round < FAILURES; round++) {
        for (int i = 0; i < FAILING; i++) {
            bide_call_begin(&calls[i], failing, &op, failing_now);
            bide_call_next(&calls[i], failing_now);
        }
        int64_t start = bench_clock_ns();
        for (int i = 0; i < FAILING; i++, failing_now += STEP_NS) {
            bide_call_report(&calls[i], 1, &bad, failing_now);
            bide_decision d = bide_call_next(&calls[i], failing_now);
            if (d.action != BIDE_WAIT) {
                fprintf(stderr, "bench: no retry, %s\n",
                        bide_reason_name(d.reason));
                exit(1);
            }
        }
        spent += bench_clock_ns() - start;
        for (int i = 0; i < FAILING; i++)
            bide_call_end(&calls[i], failing_now);
    }
    return (double)spent / (FAILING * FAILURES);
}

/* ===== draws ===== */

enum { DRAWS = 2000000 };

static bide_rng_seeded seeded;

static double draw_between(void)
{
    bide_rng rng = bide_rng_seed(&seeded, 42);
    int64_t sum = 0;
    int64_t start = bench_clock_ns();
    for (int i = 0; i < DRAWS; i++)
        sum += bide_rng_between(&rng, 0, 100 * BIDE_MILLISECOND);
    bench_use(&sum);
    return (double)(bench_clock_ns() - start) / DRAWS;
}

static double draw_wait(void)
{
    const bide_backoff backoff = BIDE_BACKOFF_INIT;
    bide_rng rng = bide_rng_seed(&seeded, 42);
    int64_t sum = 0;
    int64_t start = bench_clock_ns();
    for (int i = 0; i < DRAWS; i++)
        sum += bide_backoff_wait(&backoff, i & 3, 0, &rng);
    bench_use(&sum);
    return (double)(bench_clock_ns() - start) / DRAWS;
}

/* ===== classification ===== */

enum { ANSWERS = 500000 };

#define HEADER(name, value)                                                    \
    {                                                                          \
        name, sizeof name - 1, value, sizeof value - 1                         \
    }

static const bide_header headers[] = {
    HEADER("Retry-After", "120"),
    HEADER("Date", "Sun, 06 Nov 1994 08:49:37 GMT"),
    HEADER("Server", "nginx"),
    HEADER("Content-Type", "text/html; charset=utf-8"),
    HEADER("Content-Length", "162"),
    HEADER("Connection", "keep-alive"),
};

static double classify(size_t n_headers)
{
    bide_response r = { .status = 503,
                        .method = "GET",
                        .headers = headers,
                        .n_headers = n_headers };
    int64_t start = bench_clock_ns();
    for (int i = 0; i < ANSWERS; i++) {
        bench_use(&r);
        bide_outcome out = bide_classify(alone.dep, &r);
        bench_use(&out);
    }
    return (double)(bench_clock_ns() - start) / ANSWERS;
}

static double classify_one_header(void)
{
    return classify(1);
}

static double classify_six_headers(void)
{
    return classify(sizeof headers / sizeof headers[0]);
}

/* ===== to compare with ===== */

enum { ADDS = 4000000, READS = 500000 };

static _Alignas(128) _Atomic uint64_t counter;
static _Alignas(128) char after_counter[128];

static void add(void *arg, int64_t n)
{
    (void)arg;
    for (int64_t i = 0; i < n; i++)
        atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
}

static double add_alone(void)
{
    bench_use(after_counter);
    int64_t start = bench_clock_ns();
    add(NULL, ADDS);
    return (double)(bench_clock_ns() - start) / ADDS;
}

static double add_contended(void)
{
    return bench_both(add, NULL, NULL, 5000);
}

static double read_clock(void)
{
    int64_t sum = 0;
    int64_t start = bench_clock_ns();
    for (int i = 0; i < READS; i++)
        sum += bench_read_ns(CLOCK_MONOTONIC);
    bench_use(&sum);
    return (double)(bench_clock_ns() - start) / READS;
}

/* ===== tables ===== */

enum {
    ROW_ONE,
    ROW_SHARING,
    ROW_APART,
    ROW_ONE_LANE,
    ROW_RETRY,
    ROW_BETWEEN,
    ROW_WAIT,
    ROW_CLASSIFY_1,
    ROW_CLASSIFY_6,
    ROW_ADD,
    ROW_ADD_CONTENDED,
    ROW_CLOCK,
    N_ROWS
};

/* clang-format off */
static struct bench_row rows[N_ROWS] = {
#define ROW(text, function) { .name = text, .measure = function }
    [ROW_ONE] = ROW("successful call, one thread", one_thread),
    [ROW_SHARING] = ROW("... two threads, one dependency", two_on_one),
    [ROW_APART] = ROW("... two threads, two dependencies", two_on_two),
    [ROW_ONE_LANE] = ROW("... two threads, one dependency, 1 lane", two_on_one_lane),
    [ROW_RETRY] = ROW("decision to retry (report, next)", decision_to_retry),
    [ROW_BETWEEN] = ROW("draw (bide_rng_between)", draw_between),
    [ROW_WAIT] = ROW("draw of a wait (bide_backoff_wait)", draw_wait),
    [ROW_CLASSIFY_1] = ROW("classify 503, Retry-After", classify_one_header),
    [ROW_CLASSIFY_6] = ROW("classify 503, six headers", classify_six_headers),
    [ROW_ADD] = ROW("atomic add", add_alone),
    [ROW_ADD_CONTENDED] = ROW("atomic add, two threads on one word", add_contended),
    [ROW_CLOCK] = ROW("clock_gettime(CLOCK_MONOTONIC)", read_clock),
#undef ROW
};
/* clang-format on */

/* Of the throughput of two threads: what sharing leaves of it. Taken round by
 * round, since both sides of a round saw the same machine. */
static double sharing_ratio(void)
{
    double ratio[BENCH_ROUNDS];
    for (int i = 0; i < BENCH_ROUNDS; i++)
        ratio[i] = rows[ROW_APART].ns[i] / rows[ROW_SHARING].ns[i];
    bench_sort(ratio);
    return bench_median(ratio);
}

static void print_times(void)
{
    double ratio = sharing_ratio();
    printf("%-40s %8s %8s  %s\n", "ns each", "median", "min", "bar");
    for (int i = 0; i < N_ROWS; i++) {
        bench_sort(rows[i].ns);
        double median = bench_median(rows[i].ns);
        if (i == ROW_ADD)
            printf("to compare with\n");
        printf("%-40s %8.1f %8.1f", rows[i].name, median, rows[i].ns[0]);
        if (i == ROW_ONE)
            printf("  < 30     %s", bench_verdict(median < 30));
        printf("\n");
        if (i == ROW_APART)
            printf("%-40s %7.0f%% %8s  >= 90 %%  %s\n",
                   "... one dependency against two", ratio * 100, "",
                   bench_verdict(ratio >= 0.9));
    }
    if (bench_median(rows[ROW_ADD_CONTENDED].ns) <
        3 * bench_median(rows[ROW_ADD].ns))
        printf("(two threads hardly ever ran at once: one core, or a busy"
               " machine;\n what is said of two threads means little)\n");
}

static void print_size(const char *name, size_t size, size_t bar)
{
    printf("%-40s %8zu", name, size);
    if (bar != 0)
        printf("           <= %-5zu %s", bar, bench_verdict(size <= bar));
    printf("\n");
}

static void print_sizes(void)
{
    const bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_policy_conf small = conf;
    small.lanes = 1;
    small.latency.measure = false;
    printf("\nbytes\n");
    print_size("bide_call", sizeof(bide_call), 256);
    print_size("bide_dep", bide_dep_size(&conf), 65536);
    print_size("bide_dep, 1 lane, latency off", bide_dep_size(&small), 65536);
    print_size("bide_policy_conf", sizeof(bide_policy_conf), 0);
    print_size("bide_decision", sizeof(bide_decision), 0);
    print_size("bide_outcome", sizeof(bide_outcome), 0);
    print_size("bide_stats", sizeof(bide_stats), 0);
}

int main(void)
{
    const bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_policy_conf generous = conf, narrow = conf;
    narrow.lanes = 1;
    generous.budget.floor_per_s = 1e6;
    generous.breaker.min_calls = 1000000000; /* counts, and never opens */
    alone.dep = new_dep(&conf);
    sharing[0].dep = sharing[1].dep = new_dep(&conf);
    one_lane[0].dep = one_lane[1].dep = new_dep(&narrow);
    apart[0].dep = new_dep(&conf);
    apart[1].dep = new_dep(&conf);
    failing = new_dep(&generous);

    bench_pin(0);
    bench_run(rows, N_ROWS);
    printf("bide %s, the engine; %d rounds\n\n", bide_version(), BENCH_ROUNDS);
    print_times();
    print_sizes();

    bide_dep_free(alone.dep);
    bide_dep_free(sharing[0].dep);
    bide_dep_free(one_lane[0].dep);
    bide_dep_free(apart[0].dep);
    bide_dep_free(apart[1].dep);
    bide_dep_free(failing);
    return 0;
}
