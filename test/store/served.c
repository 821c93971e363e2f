/* served URL: the rows of conformance.h on a server that somebody has started
 * (served.py), on the server's own clock. */
#include "conformance.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "store/front.h"

static const char *url;

static void really_wait(struct conformance *c, int64_t ns)
{
    (void)c;
    struct timespec t = { .tv_sec = ns / BIDE_SECOND,
                          .tv_nsec = ns % BIDE_SECOND };
    nanosleep(&t, NULL);
}

static bide_store *open_store(int64_t timeout_ns)
{
    bide_store *store = NULL;
    char why[512] = "";
    bide_store_conf conf = BIDE_STORE_CONF_INIT;

    conf.timeout_ns = timeout_ns;
    conf.limit_bytes = 1 << 20;
    if (bide_store_open(&store, url, &conf, why, sizeof why) < 0)
        fail_msg("%s: %s", url, why);
    return store;
}

static void store_served_conforms(void **state)
{
    (void)state;
    struct conformance c = { .store = open_store(20 * BIDE_SECOND),
                             .tick_ns = 400 * BIDE_MILLISECOND,
                             .wait = really_wait };
    conformance_run(&c);
    bide_store_close(c.store);
}

/* ===== several at once ===== */

enum { THREADS = 16, KEYS = 40, STORES = 3 };

static bide_store *stores[STORES];
static _Atomic int firsts[KEYS], dones[KEYS];

/* Each claims every key, until somebody has done it. */
static void *contend(void *arg)
{
    int me = (int)(intptr_t)arg;

    for (int i = 0; i < KEYS; i++) {
        int key = (i * 7 + me) % KEYS;
        char name[32], answer[32];
        snprintf(name, sizeof name, "contended %d", key);
        snprintf(answer, sizeof answer, "answer %d", key);
        bide_store_result result;
        do {
            bide_store_op op = BIDE_STORE_OP_INIT;
            op.key = name;
            op.room = "contend";
            bide_store_do(stores[me % STORES], &op);
            result = op.result;
            if (result == BIDE_STORE_FIRST) {
                firsts[key]++;
                bide_store_complete(stores[me % STORES], &op, 200, answer,
                                    strlen(answer));
                if (op.result != BIDE_STORE_OK)
                    abort();
            }
            if (result == BIDE_STORE_DONE) {
                dones[key]++;
                if (op.len != strlen(answer) ||
                    memcmp(op.data, answer, op.len) != 0)
                    abort();
            }
            bide_store_op_done(&op);
        } while (result == BIDE_STORE_IN_PROGRESS);
        if (result != BIDE_STORE_FIRST && result != BIDE_STORE_DONE)
            abort();
    }
    return NULL;
}

static void store_contended_key_is_first_once(void **state)
{
    (void)state;
    pthread_t threads[THREADS];

    for (int i = 0; i < STORES; i++)
        stores[i] = open_store(20 * BIDE_SECOND);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, contend, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < KEYS; i++) {
        assert_int_equal(firsts[i], 1);
        assert_int_equal(dones[i], THREADS - 1);
    }
    for (int i = 0; i < STORES; i++)
        bide_store_close(stores[i]);
}

/* ===== what an operator sees and does ===== */

struct tally {
    uint64_t rows, bytes;
    int64_t last_ns;
    bool newest_first;
};

static bool tally(void *ctx, const struct bide__store_row *row)
{
    struct tally *t = ctx;

    t->rows++;
    t->bytes += row->record.bytes;
    return true;
}

static void *open_kind(const struct bide__store_kind **ret)
{
    char why[512] = "";
    void *self = NULL;
    struct bide__store_setup setup = { .url = url,
                                       .timeout_ns = 20 * BIDE_SECOND,
                                       .limit_bytes = 1 << 20 };

    *ret = bide__store_kind_of(url, &setup.rest);
    assert_non_null(*ret);
    if ((*ret)->open(&self, &setup, why, sizeof why) < 0)
        fail_msg("%s", why);
    return self;
}

/* Counts are those of the records, whatever was claimed, completed, released and
 * expired before; so are they after purging, and after sweeping. */
static void store_counts_are_those_of_the_records(void **state)
{
    (void)state;
    const struct bide__store_kind *kind;
    struct bide__store_count count;
    struct tally t = { 0 };
    struct bide__store_query all = { 0 }, pay = { .scope = "/pay" };
    uint64_t removed = 0;
    char why[512] = "";
    void *self = open_kind(&kind);
    int n;

    do
        n = kind->sweep(self, 10, why, sizeof why);
    while (n > 0);
    assert_int_equal(n, 0);
    assert_int_equal(kind->list(self, &all, tally, &t, why, sizeof why), 0);
    assert_int_equal(kind->count(self, &count, why, sizeof why), 0);
    assert_int_equal(count.records, t.rows);
    assert_int_equal(count.bytes, t.bytes);
    assert_true(count.oldest_ns > 0);
    assert_true(t.rows > 50);

    /* What is at rest goes; what is in progress stays. */
    assert_int_equal(kind->purge(self, &pay, &removed, why, sizeof why), 0);
    assert_true(removed > 5);
    uint64_t before = t.rows;
    t = (struct tally){ 0 };
    assert_int_equal(kind->list(self, &all, tally, &t, why, sizeof why), 0);
    assert_int_equal(t.rows, before - removed);
    assert_int_equal(kind->count(self, &count, why, sizeof why), 0);
    assert_int_equal(count.records, t.rows);
    assert_int_equal(count.bytes, t.bytes);

    /* Two pages of data. */
    struct bide__store_query some = { .with_data = true, .most = 33 };
    t = (struct tally){ 0 };
    assert_int_equal(kind->list(self, &some, tally, &t, why, sizeof why), 0);
    assert_int_equal(t.rows, 33);
    kind->close(self);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_served_conforms),
        cmocka_unit_test(store_contended_key_is_first_once),
        cmocka_unit_test(store_counts_are_those_of_the_records),
    };
    if (argc != 2)
        return 2;
    url = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
