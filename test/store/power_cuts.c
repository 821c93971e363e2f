/* Power fails under the SQLite store, at any moment: no claim and no answer that
 * was acknowledged is lost. And a disk that lies is found out, so this would show
 * if the store did not wait for its syncs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <pthread.h>

#include "bide/policy.h"
#include "bide/store.h"
#include "power.h"

enum { THREADS = 4, ACKS = 200000, CUTS = 60 };

/* What the store has acknowledged, in order: keys of claims and of answers. */
static struct ack {
    int thread, number;
    bool done;
} acks[ACKS];
static int n_acks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool ending;
static bide_store *store;

static void key_of(char key[32], int thread, int number)
{
    snprintf(key, 32, "%d-%d", thread, number);
}

static void acknowledged(int thread, int number, bool done)
{
    pthread_mutex_lock(&lock);
    if (n_acks < ACKS)
        acks[n_acks++] = (struct ack){ thread, number, done };
    pthread_mutex_unlock(&lock);
}

static void *work(void *arg)
{
    int thread = (int)(intptr_t)arg;
    char key[32], answer[600];

    memset(answer, 'a' + thread, sizeof answer);
    for (int i = 0; !ending; i++) {
        bide_store_op op = BIDE_STORE_OP_INIT;
        key_of(key, thread, i);
        op.key = key;
        op.lease_ns = BIDE_HOUR;
        bide_store_do(store, &op);
        if (op.result != BIDE_STORE_FIRST)
            abort();
        acknowledged(thread, i, false);
        if (i % 3 == 0)
            continue;
        bide_store_complete(store, &op, 201, answer, sizeof answer);
        if (op.result != BIDE_STORE_OK)
            abort();
        acknowledged(thread, i, true);
        bide_store_op_done(&op);
    }
    return NULL;
}

/* NULL: it is damaged, which it notices. */
static bide_store *open_file(const char *path)
{
    char url[300], why[256] = "";
    bide_store_conf conf = BIDE_STORE_CONF_INIT;
    bide_store *opened = NULL;

    conf.timeout_ns = 60 * BIDE_SECOND;
    snprintf(url, sizeof url, "sqlite:%s", path);
    if (bide_store_open(&opened, url, &conf, why, sizeof why) < 0)
        print_message("# %s\n", why);
    return opened;
}

static bool is_there(bide_store *after, const struct ack *ack)
{
    bide_store_op op = BIDE_STORE_OP_INIT;
    char key[32];

    key_of(key, ack->thread, ack->number);
    op.verb = BIDE_STORE_LOOK_UP;
    op.key = key;
    bide_store_do(after, &op);
    bool ok = ack->done ? op.result == BIDE_STORE_DONE && op.len == 600 &&
                              ((const char *)op.data)[599] == 'a' + ack->thread
                        : op.result == BIDE_STORE_DONE ||
                              op.result == BIDE_STORE_IN_PROGRESS;
    bide_store_op_done(&op);
    return ok;
}

/* How many of what was acknowledged before the cut are not there after it: of the
 * last ones, and of some before. */
static int lost_by_cut(const char *directory, unsigned *seed)
{
    char from[200], to[200], path[220];
    int lost = 0;

    pthread_mutex_lock(&lock);
    int n = n_acks;
    pthread_mutex_unlock(&lock);
    snprintf(from, sizeof from, "%s/live.db", directory);
    snprintf(to, sizeof to, "%s/after.db", directory);
    power_cut(from, to, seed);
    bide_store *after = open_file(to);
    for (int i = n > 60 ? n - 60 : 0; i < n; i++)
        lost += !after || !is_there(after, &acks[i]);
    for (int i = 0; i < 20 && n > 0; i++)
        lost += !after || !is_there(after, &acks[rand_r(seed) % n]);
    bide_store_close(after);
    for (int i = 0; i < 3; i++) {
        static const char *const ends[] = { "", "-wal", "-shm" };
        snprintf(path, sizeof path, "%s%s", to, ends[i]);
        unlink(path);
    }
    return lost;
}

static int lost_by_cuts(int cuts)
{
    char directory[] = "/tmp/bide-power-XXXXXX", path[64], line[80];
    pthread_t threads[THREADS];
    unsigned seed = 1;
    int lost = 0;

    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/live.db", directory);
    n_acks = 0;
    ending = false;
    store = open_file(path);
    assert_non_null(store);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
    for (int i = 0; i < cuts; i++) {
        usleep((useconds_t)(rand_r(&seed) % 20000));
        lost += lost_by_cut(directory, &seed);
    }
    ending = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    bide_store_close(store);
    print_message("# %d cuts, %d acknowledged, %lu syncs, %d lost\n", cuts,
                  n_acks, power_syncs(), lost);
    assert_true(n_acks > cuts);
    snprintf(line, sizeof line, "rm -rf %s", directory);
    assert_int_equal(system(line), 0);
    return lost;
}

static int cuts_wanted(void)
{
    const char *said = getenv("POWER_CUTS");

    return said ? atoi(said) : getenv("BIDE_TEST_VALGRIND") ? 5 : CUTS;
}

static void power_failure_loses_nothing_acknowledged(void **state)
{
    (void)state;
    assert_int_equal(lost_by_cuts(cuts_wanted()), 0);
}

static void power_failure_on_a_lying_disk_is_found_out(void **state)
{
    (void)state;
    power_vfs_honest(false);
    int lost = lost_by_cuts(5);
    power_vfs_honest(true);
    assert_true(lost > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_failure_loses_nothing_acknowledged),
        cmocka_unit_test(power_failure_on_a_lying_disk_is_found_out),
    };
    umask(077); /* as the store wants it */
    power_vfs_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
