/* The simulator's speed: events a second of a small model with the engine in it,
 * and of the agenda alone with few and with many events pending.
 *
 * The model is an M/M/5 queue under the default policy: a call is two events,
 * one that begins it and one that ends it, and all that the engine does for it.
 * The agenda is measured by "hold": the next event is taken off, and put back on
 * at a random time ahead. Beside it stands a binary heap, which is what most
 * simulators use. */
#include "bench.h"

#include "sim/world/agenda.h"
#include "sim/model/dist.h"
#include "sim/model/memory.h"
#include "sim/oracle/harness.h"

enum { MODEL_CALLS = 200000, HOLDS = 500000 };

static const struct sim_dist ahead = { .kind = SIM_EXPONENTIAL, .at_ns = 1e9 };

/* Drawn beforehand: the agenda is measured, not the logarithm. */
enum { GAPS = 1 << 16 };
static int64_t gap[GAPS];

/* ===== the model ===== */

static double measure_model(void)
{
    struct sim_harness harness = SIM_HARNESS_INIT;
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    harness.service.conf.workers = 5;
    harness.service.conf.time = sim_exponential(100e6);
    harness.fleet.gap = sim_exponential(40e6);
    harness.fleet.most_calls = MODEL_CALLS;
    sim_harness_start(&harness, 1, &conf, 1);
    int64_t start = bench_clock_ns();
    sim_world_run(&harness.world, INT64_MAX);
    int64_t took = bench_clock_ns() - start;
    double events = (double)harness.world.events;
    sim_harness_done(&harness);
    return (double)took / events;
}

/* ===== the agenda ===== */

static double hold(uint32_t pending)
{
    struct sim_agenda a;
    struct sim_event e;
    sim_agenda_init(&a);
    for (uint32_t i = 0; i < pending; i++)
        sim_agenda_add(&a, gap[i % GAPS] + (i / GAPS), NULL, i, 0);
    int64_t start = bench_clock_ns();
    for (uint32_t i = 0; i < HOLDS && sim_agenda_pop(&a, INT64_MAX, &e); i++)
        sim_agenda_add(&a, e.at_ns + gap[i % GAPS], NULL, e.a, 0);
    int64_t took = bench_clock_ns() - start;
    sim_agenda_done(&a);
    return (double)took / HOLDS;
}

/* ===== a heap to compare with ===== */

static struct sim_event *heap;

static void heap_down(uint32_t n, struct sim_event e)
{
    uint32_t i = 0, child;
    while ((child = 2 * i + 1) < n) {
        if (child + 1 < n && heap[child + 1].at_ns < heap[child].at_ns)
            child++;
        if (e.at_ns <= heap[child].at_ns)
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = e;
}

/* Taking off and putting back on is one way down, which favours the heap. */
static double heap_hold(uint32_t pending)
{
    heap = sim_new(pending, sizeof *heap);
    int64_t latest = 0;
    for (uint32_t i = 0; i < pending; i++) /* rising times are a heap */
        heap[i].at_ns = latest += 2000000000 / pending;
    int64_t took = 0;
    for (uint32_t pass = 0; pass < 2; pass++) { /* the first shuffles it */
        int64_t start = bench_clock_ns();
        for (uint32_t i = 0; i < HOLDS; i++) {
            struct sim_event e = heap[0];
            e.at_ns += gap[i % GAPS];
            heap_down(pending, e);
        }
        took = bench_clock_ns() - start;
    }
    free(heap);
    return (double)took / HOLDS;
}

#define HOLD(n)                                                                \
    static double hold_##n(void)                                               \
    {                                                                          \
        return hold(n);                                                        \
    }                                                                          \
    static double heap_##n(void)                                               \
    {                                                                          \
        return heap_hold(n);                                                   \
    }

HOLD(10)
HOLD(1000)
HOLD(10000)
HOLD(100000)
HOLD(1000000)
HOLD(10000000)

/* ===== the table ===== */

static struct bench_row rows[] = {
    { "M/M/5, the engine in it", measure_model, { 0 } },
    { "agenda, 10 pending", hold_10, { 0 } },
    { "agenda, 1 000 pending", hold_1000, { 0 } },
    { "agenda, 10 000 pending", hold_10000, { 0 } },
    { "agenda, 100 000 pending", hold_100000, { 0 } },
    { "agenda, 1 million pending", hold_1000000, { 0 } },
    { "agenda, 10 million pending", hold_10000000, { 0 } },
    { "heap, 10 pending", heap_10, { 0 } },
    { "heap, 1 000 pending", heap_1000, { 0 } },
    { "heap, 10 000 pending", heap_10000, { 0 } },
    { "heap, 100 000 pending", heap_100000, { 0 } },
    { "heap, 1 million pending", heap_1000000, { 0 } },
    { "heap, 10 million pending", heap_10000000, { 0 } },
};

enum { N_ROWS = sizeof rows / sizeof rows[0] };

int main(void)
{
    bench_pin(0);
    for (uint64_t i = 0; i < GAPS; i++)
        gap[i] = sim_dist_draw(&ahead, sim_luck_word(1, i, 0, 0));
    bench_run(rows, N_ROWS);
    printf("\nsimulator: million events a second (median; best)\n");
    for (int i = 0; i < N_ROWS; i++) {
        bench_sort(rows[i].ns);
        double median = bench_median(rows[i].ns);
        printf("  %-28s %6.1f %6.1f", rows[i].name, 1e3 / median,
               1e3 / rows[i].ns[0]);
        if (i == 0)
            printf("  bar 10: %s", bench_verdict(1e3 / median >= 10));
        printf("\n");
    }
    return 0;
}
