/* A thousand threads want the same keys, by waiting and by ports, while the store
 * hangs and fails now and then: each key is won once, nothing is lost, no race. */
#include "double.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "folder.h"

enum { THREADS = 1000, KEYS = 40, PORTS = 8, ROUNDS = 300 };

static bide_store *store;
static atomic_int wins[KEYS], errors;

static void *claim_all(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg;
    int start = (int)(seed * 7u % KEYS);
    for (int i = 0; i < KEYS; i++) {
        char key[8];
        int k = (start + i) % KEYS;
        snprintf(key, sizeof key, "%d", k);
        bide_store_op op = op_for(BIDE_STORE_CLAIM, key);
        if (bide_store_do(store, &op) != 0)
            atomic_fetch_add(&errors, 1);
        if (op.result == BIDE_STORE_FIRST)
            atomic_fetch_add(&wins[k], 1);
        else if (op.result != BIDE_STORE_IN_PROGRESS)
            atomic_fetch_add(&errors, 1);
    }
    return NULL;
}

static void start_all(pthread_t *threads, int n, void *(*main)(void *))
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 256 << 10);
    for (int i = 0; i < n; i++)
        assert_int_equal(pthread_create(&threads[i], &attr, main,
                                        (void *)(uintptr_t)(i + 1)),
                         0);
    pthread_attr_destroy(&attr);
}

static void wins_once(const char *url)
{
    static pthread_t threads[THREADS];
    bide_store_conf conf = BIDE_STORE_CONF_INIT;
    char why[256] = "";
    int n = getenv("BIDE_TEST_VALGRIND") ? 50 : THREADS;
    conf.timeout_ns = 60 * BIDE_SECOND;
    if (bide_store_open(&store, url, &conf, why, sizeof why) < 0)
        fail_msg("%s", why);
    for (int k = 0; k < KEYS; k++)
        wins[k] = 0;
    errors = 0;
    start_all(threads, n, claim_all);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(errors, 0);
    for (int k = 0; k < KEYS; k++)
        assert_int_equal(wins[k], 1);
    bide_store_close(store);
}

static void thousand_threads_win_each_key_once(void **state)
{
    (void)state;
    wins_once("memory");
}

static void thousand_threads_win_each_key_once_in_sqlite(void **state)
{
    struct folder folder;
    (void)state;
    folder_make(&folder);
    wins_once(folder.url);
    folder_remove(&folder);
}

/* ===== with failures ===== */

/* Owners know what they did: a key that is won is completed or released, and
 * nobody else may win it in between. */
static atomic_int owner[KEYS];

static void *work_by_port(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg;
    bide_store_port *port;
    if (bide_store_port_new(&port, store) < 0)
        return NULL;
    for (int round = 0; round < ROUNDS; round++) {
        char key[8];
        int k = (int)(rand_r(&seed) % KEYS);
        snprintf(key, sizeof key, "%d", k);
        bide_store_op op = op_for(BIDE_STORE_CLAIM, key);
        bide_store_submit(port, &op);
        if (rand_r(&seed) % 8 == 0) {
            bide_store_forget(port, &op);
            continue;
        }
        struct pollfd fd = { .fd = bide_store_port_fd(port), .events = POLLIN };
        while (!bide_store_reap(port))
            poll(&fd, 1, 1000);
        if (op.result != BIDE_STORE_FIRST)
            continue;
        if (atomic_exchange(&owner[k], 1) != 0)
            atomic_fetch_add(&errors, 1);
        atomic_store(&owner[k], 0);
        bide_store_release(store, &op);
    }
    bide_store_port_free(port);
    return NULL;
}

static atomic_bool over;

static void *trouble(void *arg)
{
    struct double_store *d = arg;
    static const enum double_mode modes[] = { WORKS, FAILS, WORKS, HANGS,
                                              WORKS, DOES_AND_FAILS };
    for (unsigned i = 0; !over; i++) {
        double_set(d, modes[i % 6]);
        bide_sleep_until(bide_now_ns() + 3 * BIDE_MILLISECOND, NULL);
    }
    double_set(d, WORKS);
    return NULL;
}

static void no_key_has_two_owners_while_it_fails(void **state)
{
    struct double_store d;
    pthread_t threads[PORTS], troubles;
    (void)state;
    store = double_open(&d, 5 * BIDE_MILLISECOND);
    errors = 0;
    over = false;
    for (int k = 0; k < KEYS; k++)
        owner[k] = 0;
    assert_int_equal(pthread_create(&troubles, NULL, trouble, &d), 0);
    start_all(threads, PORTS, work_by_port);
    for (int i = 0; i < PORTS; i++)
        pthread_join(threads[i], NULL);
    over = true;
    pthread_join(troubles, NULL);
    assert_int_equal(errors, 0);
    /* Everything that was given up is released in the end. */
    UNTIL(is_up(store) && owed(store) == 0);
    for (int k = 0; k < KEYS; k++) {
        char key[8];
        snprintf(key, sizeof key, "%d", k);
        UNTIL(ask(store, BIDE_STORE_LOOK_UP, key) == BIDE_STORE_ABSENT);
    }
    bide_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thousand_threads_win_each_key_once),
        cmocka_unit_test(thousand_threads_win_each_key_once_in_sqlite),
        cmocka_unit_test(no_key_has_two_owners_while_it_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
