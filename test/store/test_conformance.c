/* The stores without a server, on a virtual clock: the same rows for each. */
#include "conformance.h"

#include "folder.h"
#include "store/front.h"

static _Atomic int64_t clock_ns = 1800000000 * BIDE_SECOND;

static int64_t read_clock(void *ctx)
{
    (void)ctx;
    return clock_ns;
}

static void move_clock(struct conformance *c, int64_t ns)
{
    (void)c;
    clock_ns += ns;
}

static bide_store *open_store(const char *url)
{
    bide_store *store = NULL;
    char why[256] = "";
    bide_store_conf conf = BIDE_STORE_CONF_INIT;
    struct bide__store_setup setup = { .url = url, .now_ns = read_clock };
    const struct bide__store_kind *kind = bide__store_kind_of(url, &setup.rest);
    assert_non_null(kind);
    conf.timeout_ns = 60 * BIDE_SECOND;
    conf.limit_bytes = 1 << 20;
    setup.timeout_ns = conf.timeout_ns;
    setup.limit_bytes = conf.limit_bytes;
    if (bide__store_start(&store, kind, &setup, &conf, why, sizeof why) < 0)
        fail_msg("%s: %s", url, why);
    return store;
}

static void conforms(const char *url)
{
    struct conformance c = { .store = open_store(url),
                             .tick_ns = BIDE_SECOND,
                             .wait = move_clock,
                             .virtual_clock = true };
    conformance_run(&c);
    bide_store_close(c.store);
}

static void store_memory_conforms(void **state)
{
    (void)state;
    conforms("memory");
}

/* In a folder of its own, which is gone afterwards. */
static void store_sqlite_conforms(void **state)
{
    struct folder folder;
    (void)state;
    folder_make(&folder);
    conforms(folder.url);
    folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_memory_conforms),
        cmocka_unit_test(store_sqlite_conforms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
