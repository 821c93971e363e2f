/* What a store costs: claims a second, and how many share a commit.
 *
 *   bench_store [URL...]     default: memory, and sqlite in the current folder
 *
 * One client waits for each claim: what a commit takes. Sixty-four do so at once:
 * what is gained by sharing it. Then the same with a port, as an event loop has it,
 * and repeats that are answered from the store. A file system without a disk under
 * it (tmpfs) shows nothing: run it where records will be. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bide/run.h"
#include "bide/store.h"

enum { CLIENTS = 64, SAMPLES = 1 << 16 };

static bide_store *store;
static atomic_bool over;
static atomic_long done, refused, next_key;
static int64_t samples[SAMPLES];
static atomic_long n_samples;

static double seconds(void)
{
    const char *text = getenv("BENCH_SECONDS");
    return text ? atof(text) : 2;
}

static void sample(int64_t ns)
{
    long i = atomic_fetch_add(&n_samples, 1);
    if (i < SAMPLES)
        samples[i] = ns;
}

/* ===== what clients do ===== */

static void *claim(void *arg)
{
    (void)arg;
    while (!over) {
        char key[32];
        bide_store_op op = BIDE_STORE_OP_INIT;
        snprintf(key, sizeof key, "%ld", atomic_fetch_add(&next_key, 1));
        op.scope = "/pay";
        op.key = key;
        op.room = "127.0.0.1";
        int64_t begun = bide_now_ns();
        bide_store_do(store, &op);
        sample(bide_now_ns() - begun);
        atomic_fetch_add(op.result == BIDE_STORE_FIRST ? &done : &refused, 1);
    }
    return NULL;
}

static void *repeat(void *arg)
{
    (void)arg;
    while (!over) {
        bide_store_op op = BIDE_STORE_OP_INIT;
        op.scope = "/pay";
        op.key = "repeated";
        int64_t begun = bide_now_ns();
        bide_store_do(store, &op);
        sample(bide_now_ns() - begun);
        atomic_fetch_add(op.result == BIDE_STORE_DONE ? &done : &refused, 1);
        bide_store_op_done(&op);
    }
    return NULL;
}

/* One thread with many requests in flight. */
static void *by_port(void *arg)
{
    static bide_store_op ops[CLIENTS];
    static char keys[CLIENTS][32];
    bide_store_port *port;
    (void)arg;
    if (bide_store_port_new(&port, store) < 0)
        return NULL;
    for (int i = 0; i < CLIENTS; i++) {
        ops[i] = (bide_store_op)BIDE_STORE_OP_INIT;
        ops[i].scope = "/pay";
        ops[i].key = keys[i];
        snprintf(keys[i], sizeof keys[i], "%ld", atomic_fetch_add(&next_key, 1));
        bide_store_submit(port, &ops[i]);
    }
    while (!over) {
        struct pollfd fd = { .fd = bide_store_port_fd(port), .events = POLLIN };
        poll(&fd, 1, 100);
        for (bide_store_op *op; !over && (op = bide_store_reap(port)) != NULL;) {
            char *key = keys[op - ops];
            atomic_fetch_add(op->result == BIDE_STORE_FIRST ? &done : &refused,
                             1);
            snprintf(key, sizeof keys[0], "%ld", atomic_fetch_add(&next_key, 1));
            bide_store_submit(port, op);
        }
    }
    bide_store_port_free(port);
    return NULL;
}

/* ===== rows ===== */

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Returns how many a second, and how many shared a commit. */
static double row(const char *name, const char *what, int clients,
                  void *(*main)(void *), double *ret_share)
{
    pthread_t threads[CLIENTS];
    bide_store_stats before, after;
    over = false;
    done = refused = n_samples = 0;
    bide_store_stats_get(store, &before);
    int64_t begun = bide_now_ns();
    for (int i = 0; i < clients; i++)
        if (pthread_create(&threads[i], NULL, main, NULL) != 0)
            exit(1);
    bide_sleep_until(begun + (int64_t)(seconds() * 1e9), NULL);
    over = true;
    int64_t took = bide_now_ns() - begun;
    bide_store_stats_get(store, &after);
    for (int i = 0; i < clients; i++)
        pthread_join(threads[i], NULL);
    long n = n_samples < SAMPLES ? n_samples : SAMPLES;
    qsort(samples, (size_t)n, sizeof samples[0], ascending);
    double rate = (double)(after.operations - before.operations) * 1e9 /
                  (double)took;
    double commits = (double)(after.commits - before.commits);
    *ret_share = commits > 0 ? (double)(after.operations - before.operations) /
                                   commits
                             : 0;
    printf("%-12s %-9s %7d %10.0f %10.0f %8.1f", name, what,
           main == by_port ? CLIENTS : clients, rate, commits * 1e9 / (double)took,
           *ret_share);
    if (n > 0)
        printf(" %9.3f %9.3f", (double)samples[n / 2] / 1e6,
               (double)samples[n * 99 / 100] / 1e6);
    else
        printf(" %9s %9s", "", "");
    printf("%s\n", refused ? "  (some were refused)" : "");
    return rate;
}

static void bench(const char *url)
{
    char why[512] = "";
    bide_store_conf conf = BIDE_STORE_CONF_INIT;
    bide_store_op op = BIDE_STORE_OP_INIT;
    char name[16];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(url, ":"), url);
    conf.limit_bytes = INT64_MAX;
    conf.timeout_ns = 2000000000;
    if (bide_store_open(&store, url, &conf, why, sizeof why) < 0) {
        printf("%-12s %s\n", name, why);
        return;
    }
    op.scope = "/pay";
    op.key = "repeated";
    bide_store_do(store, &op);
    bide_store_complete(store, &op, 201, "{\"charge\":1}", 12);
    double share, unread;
    double one = row(name, "claim", 1, claim, &unread);
    double many = row(name, "claim", CLIENTS, claim, &share);
    row(name, "by port", 1, by_port, &unread);
    row(name, "repeat", CLIENTS, repeat, &unread);
    if (strcmp(name, "memory") != 0) /* which has no commits to share */
        printf("%-12s 64 clients: %.1f claims share a commit (bar: 8), %.1f "
               "claims for each of a single client (bar: 5)\n",
               name, share, one > 0 ? many / one : 0);
    bide_store_close(store);
}

int main(int argc, char **argv)
{
    char folder[] = "bench-store-XXXXXX", url[64], command[64];
    printf("%-12s %-9s %7s %10s %10s %8s %9s %9s\n", "store", "what", "clients",
           "ops/s", "commits/s", "share", "p50 ms", "p99 ms");
    for (int i = 1; i < argc; i++)
        bench(argv[i]);
    if (argc > 1)
        return 0;
    bench("memory");
    if (!mkdtemp(folder))
        return 1;
    snprintf(url, sizeof url, "sqlite:%s/records.db", folder);
    bench(url);
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) != 0;
}
