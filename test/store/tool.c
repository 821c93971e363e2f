/* A client of a store, for tests with several processes, also killed ones:
 *
 *   store_tool claim URL N [THREADS]   claims the keys 0 .. N-1, each once, from a
 *                                      random one on; prints those it won
 *   store_tool pay URL FIRST N         claims and completes; prints `C key` when the
 *                                      claim, `D key` when the answer is acknowledged
 *   store_tool fill URL N              done records, in one go; nothing printed
 *   store_tool look URL                for each key on standard input: its state
 *   store_tool hold URL KEY            claims it and waits for the end of input
 *
 * DOWN is tried again. It has all the time that it may: a claim that is given up may
 * be granted all the same, and then is in progress until it is released. Lines are
 * written at once, so that none is lost by a kill. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bide/policy.h"
#include "bide/run.h"
#include "bide/store.h"

static bide_store *store;

static void try_until_up(bide_store_op *op)
{
    bide_store_verb verb = op->verb;
    for (int tries = 0; tries < 20000; tries++) {
        if (bide_store_do(store, op) < 0) {
            fprintf(stderr, "store_tool: refused\n");
            exit(2);
        }
        if (op->result != BIDE_STORE_DOWN)
            return;
        op->verb = verb;
        bide_sleep_until(bide_now_ns() + 5000000, NULL);
    }
    fprintf(stderr, "store_tool: the store stays down\n");
    exit(3);
}

static bide_store_op op_of(bide_store_verb verb, const char *key)
{
    bide_store_op op = BIDE_STORE_OP_INIT;
    op.verb = verb;
    op.scope = "/pay";
    op.key = key;
    return op;
}

static void say(const char *what, const char *key)
{
    char line[128];
    int n = snprintf(line, sizeof line, "%s%s\n", what, key);
    if (write(STDOUT_FILENO, line, (size_t)n) != n)
        exit(4);
}

/* ===== claim ===== */

static long n_keys, n_threads = 1;
static long first_key; /* of all threads: together they claim every key */

static void *claim_some(void *arg)
{
    for (long i = (long)(intptr_t)arg; i < n_keys; i += n_threads) {
        char key[24];
        snprintf(key, sizeof key, "%ld", (first_key + i) % n_keys);
        bide_store_op op = op_of(BIDE_STORE_CLAIM, key);
        op.lease_ns = op.keep_ns;
        try_until_up(&op);
        if (op.result == BIDE_STORE_FIRST)
            say("", key);
        bide_store_op_done(&op);
    }
    return NULL;
}

static void claim(void)
{
    pthread_t threads[256];
    unsigned seed = (unsigned)getpid();
    first_key = rand_r(&seed) % n_keys;
    for (long i = 0; i < n_threads; i++)
        if (pthread_create(&threads[i], NULL, claim_some,
                           (void *)(intptr_t)i) != 0)
            exit(5);
    for (long i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
}

/* ===== the others ===== */

static void pay(long first, long n)
{
    for (long i = first; i < first + n; i++) {
        char key[24];
        snprintf(key, sizeof key, "%ld", i);
        bide_store_op op = op_of(BIDE_STORE_CLAIM, key);
        try_until_up(&op);
        if (op.result != BIDE_STORE_FIRST) {
            bide_store_op_done(&op);
            continue;
        }
        say("C ", key);
        op.verb = BIDE_STORE_COMPLETE;
        op.status = 201;
        op.data = key;
        op.len = strlen(key);
        try_until_up(&op);
        if (op.result == BIDE_STORE_OK)
            say("D ", key);
    }
}

/* Many at a time, by a port: as fast as the store can. */
static void fill(long n)
{
    enum { AT_ONCE = 256 };
    static bide_store_op ops[AT_ONCE];
    static char keys[AT_ONCE][24];
    for (long first = 0; first < n; first += AT_ONCE) {
        bide_store_port *port;
        long m = n - first < AT_ONCE ? n - first : AT_ONCE, left = m;
        if (bide_store_port_new(&port, store) < 0)
            exit(6);
        for (long i = 0; i < m; i++) {
            snprintf(keys[i], sizeof keys[i], "key-%ld", first + i);
            ops[i] = op_of(BIDE_STORE_CLAIM, keys[i]);
            bide_store_submit(port, &ops[i]);
        }
        while (left > 0) {
            bide_store_op *op = bide_store_reap(port);
            if (!op) {
                bide_sleep_until(bide_now_ns() + 200000, NULL);
                continue;
            }
            if (op->verb == BIDE_STORE_CLAIM && op->result == BIDE_STORE_FIRST) {
                op->verb = BIDE_STORE_COMPLETE;
                op->status = 201;
                op->data = "{}";
                op->len = 2;
                bide_store_submit(port, op);
            } else {
                left--;
            }
        }
        bide_store_port_free(port);
    }
}

static void look(void)
{
    char key[256];
    while (fgets(key, sizeof key, stdin)) {
        key[strcspn(key, "\n")] = '\0';
        bide_store_op op = op_of(BIDE_STORE_LOOK_UP, key);
        try_until_up(&op);
        printf("%s %s", key, bide_store_result_name(op.result));
        if (op.result == BIDE_STORE_DONE)
            printf(" %.*s", (int)op.len, (const char *)op.data);
        putchar('\n');
        bide_store_op_done(&op);
    }
}

static void hold(const char *key)
{
    bide_store_op op = op_of(BIDE_STORE_CLAIM, key);
    try_until_up(&op);
    say("", bide_store_result_name(op.result));
    while (getchar() != EOF) {
    }
}

int main(int argc, char **argv)
{
    char why[512] = "";
    bide_store_conf conf = BIDE_STORE_CONF_INIT;
    conf.limit_bytes = INT64_MAX;
    conf.timeout_ns = 60 * BIDE_SECOND;
    if (argc < 3 || bide_store_open(&store, argv[2], &conf, why, sizeof why) < 0) {
        fprintf(stderr, "store_tool: %s\n", why);
        return 2;
    }
    if (strcmp(argv[1], "claim") == 0) {
        n_keys = atol(argv[3]);
        n_threads = argc > 4 ? atol(argv[4]) : 1;
        claim();
    } else if (strcmp(argv[1], "pay") == 0) {
        pay(atol(argv[3]), atol(argv[4]));
    } else if (strcmp(argv[1], "fill") == 0) {
        fill(atol(argv[3]));
    } else if (strcmp(argv[1], "look") == 0) {
        look();
    } else {
        hold(argv[3]);
    }
    bide_store_close(store);
    return 0;
}
