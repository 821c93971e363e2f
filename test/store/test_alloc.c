/* Memory that runs out at the nth allocation, for every n: what was acknowledged
 * stands, nothing is granted twice, nothing crashes. */
#include "double.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "failing_alloc.h"
#include "folder.h"

/* One life of a store; how many times the key was granted. */
static int live(const char *url, const char *key)
{
    bide_store *store = NULL;
    bide_store_port *port = NULL;
    bide_store_conf conf = BIDE_STORE_CONF_INIT;
    char why[256];
    int granted = 0;
    conf.timeout_ns = 10 * BIDE_SECOND;
    if (bide_store_open(&store, url, &conf, why, sizeof why) < 0)
        return 0;
    bide_store_op op = op_for(BIDE_STORE_CLAIM, key);
    for (int i = 0; i < 2; i++) {
        op.verb = BIDE_STORE_CLAIM;
        if (bide_store_do(store, &op) == 0)
            granted += op.result == BIDE_STORE_FIRST;
        if (op.result != BIDE_STORE_FIRST)
            continue;
        bide_store_complete(store, &op, 201, "answer", 6);
    }
    op.verb = BIDE_STORE_LOOK_UP;
    bide_store_do(store, &op);
    if (op.result == BIDE_STORE_DONE)
        assert_memory_equal(op.data, "answer", 6);
    bide_store_op_done(&op);
    if (bide_store_port_new(&port, store) == 0) {
        bide_store_op other = op_for(BIDE_STORE_CLAIM, "other");
        if (bide_store_submit(port, &other) == 0)
            bide_store_forget(port, &other);
    }
    bide_store_port_free(port);
    bide_store_close(store);
    return granted;
}

static void survives(const char *url)
{
    long n = 0;
    for (;; n++) {
        char key[24];
        snprintf(key, sizeof key, "%ld", n);
        failed = false;
        left = n;
        int granted = live(url, key);
        left = -1;
        assert_in_range(granted, 0, 1);
        if (!failed)
            break;
    }
    print_message("# %ld allocations\n", n);
    assert_true(n > 3);
}

static void memory_survives(void **state)
{
    (void)state;
    survives("memory");
}

static void sqlite_survives(void **state)
{
    struct folder folder;
    (void)state;
    folder_make(&folder);
    survives(folder.url);
    folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_survives),
        cmocka_unit_test(sqlite_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
