/* Parts of the store by themselves: the clock, the table, the kinds, file systems;
 * and records that expire, which are swept in small batches. */
#include "double.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "folder.h"
#include "store/clock.h"
#include "store/sqlite/file.h"
#include "store/table.h"

/* ===== the clock ===== */

static void clock_never_goes_back(void **state)
{
    struct bide__store_clock clock;
    struct bide__store_setup setup = { 0 };
    (void)state;
    bide__store_clock_init(&clock, &setup, 0);
    int64_t now = bide__store_clock_now(&clock, 0);
    assert_true(now > 1600000000 * BIDE_SECOND); /* since 1970 */
    /* Another process is a year ahead: time goes on from there, and is not
     * stuck. */
    int64_t ahead = now + 365 * 86400 * BIDE_SECOND;
    int64_t then = bide__store_clock_now(&clock, ahead);
    assert_true(then >= ahead && then < ahead + 3600 * BIDE_SECOND);
    UNTIL(bide__store_clock_now(&clock, 0) > then);
    /* A machine whose clock is behind what the file has seen. */
    bide__store_clock_init(&clock, &setup, ahead);
    assert_true(bide__store_clock_now(&clock, 0) >= ahead);
}

/* ===== the table ===== */

enum { ITEMS = 5000 };

static void table_finds_what_was_put(void **state)
{
    static struct bide__store_item items[ITEMS];
    static char texts[ITEMS][16];
    struct bide__store_table table = { 0 };
    (void)state;
    assert_null(bide__store_table_find(&table, "0", 1));
    for (int i = 0; i < ITEMS; i++) {
        snprintf(texts[i], sizeof texts[i], "%d", i);
        items[i].text = texts[i];
        items[i].len = strlen(texts[i]);
        assert_true(bide__store_table_put(&table, &items[i]));
    }
    for (int i = 0; i < ITEMS; i += 2)
        bide__store_table_remove(&table, &items[i]);
    assert_int_equal(table.n, ITEMS / 2);
    for (int i = 0; i < ITEMS; i++)
        assert_ptr_equal(
            bide__store_table_find(&table, texts[i], strlen(texts[i])),
            i % 2 ? &items[i] : NULL);
    assert_null(bide__store_table_find(&table, "1\0", 2));
    bide__store_table_done(&table);
}

/* ===== file systems ===== */

static void network_file_systems_are_known(void **state)
{
    static const struct {
        unsigned long type;
        bool network;
    } rows[] = {
        { 0x6969, true },     { 0xff534d42, true },  { 0xfe534d42, true },
        { 0x65735546, true }, { 0x01021997, true },  { 0x0bd00bd0, true },
        { 0xef53, false },    { 0x01021994, false }, { 0x58465342, false },
        { 0x9123683e, false }, { 0x794c7630, false }, { 0x2fc12fc1, false },
        /* As a machine with 32 bits gives it: negative. */
        { 0xffffffffff534d42, true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if ((bide__network_fs(rows[i].type) != NULL) != rows[i].network)
            fail_msg("%lx", rows[i].type);
}

enum { EXT4 = 0xef53, NFS = 0x6969 };

/* In place of the C library's, for all of this test. */
static int type = EXT4;

int statfs(const char *path, struct statfs *ret)
{
    (void)path;
    memset(ret, 0, sizeof *ret);
    ret->f_type = type;
    return 0;
}

static void network_file_system_is_refused(void **state)
{
    struct folder folder;
    struct stat st;
    bide_store *store = NULL;
    char why[512] = "";
    (void)state;
    folder_make(&folder);
    type = NFS;
    assert_true(bide_store_open(&store, folder.url, NULL, why, sizeof why) < 0);
    type = EXT4;
    assert_null(store);
    assert_non_null(strstr(why, folder.file));
    assert_non_null(strstr(why, "is on a network file system (NFS)"));
    assert_true(stat(folder.file, &st) < 0); /* and it was not made */
    assert_int_equal(bide_store_open(&store, folder.url, NULL, why, sizeof why),
                     0);
    bide_store_close(store);
    folder_remove(&folder);
}

/* ===== names ===== */

static void results_have_names(void **state)
{
    (void)state;
    assert_string_equal(bide_store_result_name(BIDE_STORE_OK), "ok");
    assert_string_equal(bide_store_result_name(BIDE_STORE_DOWN), "down");
    assert_string_equal(bide_store_result_name((bide_store_result)99), "?");
}

/* ===== expiry ===== */

static _Atomic int64_t virtual_ns = 1800000000 * BIDE_SECOND;

static int64_t read_virtual(void *ctx)
{
    (void)ctx;
    return virtual_ns;
}

enum { RECORDS = 1000 };

static uint64_t swept(bide_store *store)
{
    bide_store_stats stats;
    bide_store_stats_get(store, &stats);
    return stats.swept;
}

static void expired_is_swept(const char *url)
{
    bide_store *store = NULL;
    bide_store_conf conf = BIDE_STORE_CONF_INIT;
    struct bide__store_setup setup = { .url = url,
                                       .timeout_ns = 60 * BIDE_SECOND,
                                       .limit_bytes = conf.limit_bytes,
                                       .now_ns = read_virtual };
    bide_store_stats stats;
    const struct bide__store_kind *kind = bide__store_kind_of(url, &setup.rest);
    conf.timeout_ns = 60 * BIDE_SECOND;
    assert_int_equal(bide__store_start(&store, kind, &setup, &conf, NULL, 0), 0);
    for (int i = 0; i < RECORDS; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        bide_store_op op = op_for(BIDE_STORE_CLAIM, key);
        op.keep_ns = (i % 2 ? 60 : 3600) * BIDE_SECOND;
        op.lease_ns = BIDE_SECOND;
        assert_int_equal(bide_store_do(store, &op), 0);
        assert_int_equal(op.result, BIDE_STORE_FIRST);
    }
    virtual_ns += 61 * BIDE_SECOND;
    assert_int_equal(ask(store, BIDE_STORE_LOOK_UP, "1"), BIDE_STORE_ABSENT);
    assert_int_equal(ask(store, BIDE_STORE_LOOK_UP, "2"), BIDE_STORE_UNKNOWN);
    UNTIL(swept(store) == RECORDS / 2);
    bide_store_stats_get(store, &stats);
    assert_int_equal(stats.records, RECORDS / 2);
    assert_true(stats.bytes > 0 && stats.oldest_ns >= 61 * BIDE_SECOND);
    virtual_ns += 3600 * BIDE_SECOND;
    UNTIL(swept(store) == RECORDS);
    bide_store_stats_get(store, &stats);
    assert_int_equal(stats.records, 0);
    assert_int_equal(stats.bytes, 0);
    bide_store_close(store);
}

static void expired_is_swept_from_memory(void **state)
{
    (void)state;
    expired_is_swept("memory");
}

static void expired_is_swept_from_sqlite(void **state)
{
    struct folder folder;
    (void)state;
    folder_make(&folder);
    expired_is_swept(folder.url);
    folder_remove(&folder);
}

/* With all the time that a disk may take. */
static int open_patiently(bide_store **ret, const char *url, char why[256])
{
    bide_store_conf conf = BIDE_STORE_CONF_INIT;
    conf.timeout_ns = 60 * BIDE_SECOND;
    return bide_store_open(ret, url, &conf, why, 256);
}

/* A file that goes away under us: nobody wins a claim in two files. */
static void removed_file_is_down(void **state)
{
    struct folder folder;
    bide_store *store, *other;
    char why[256] = "";
    (void)state;
    folder_make(&folder);
    assert_int_equal(open_patiently(&store, folder.url, why), 0);
    assert_int_equal(ask(store, BIDE_STORE_CLAIM, "a"), BIDE_STORE_FIRST);
    assert_int_equal(remove(folder.file), 0);
    assert_int_equal(ask(store, BIDE_STORE_CLAIM, "b"), BIDE_STORE_DOWN);
    /* A new one knows nothing, and the old one stays down. */
    assert_int_equal(open_patiently(&other, folder.url, why), 0);
    assert_int_equal(ask(other, BIDE_STORE_CLAIM, "b"), BIDE_STORE_FIRST);
    assert_int_equal(ask(store, BIDE_STORE_CLAIM, "b"), BIDE_STORE_DOWN);
    bide_store_close(other);
    bide_store_close(store);
    folder_remove(&folder);
}

/* Nor in two logs of one file. */
static void removed_log_is_down(void **state)
{
    static const char *const ends[] = { "-wal", "-shm" };
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char folder[] = "/tmp/bide-store-XXXXXX", url[64], file[64],
             command[64];
        bide_store *store;
        char why[256] = "";
        assert_non_null(mkdtemp(folder));
        snprintf(url, sizeof url, "sqlite:%s/records.db", folder);
        snprintf(file, sizeof file, "%s/records.db%s", folder, ends[i]);
        assert_int_equal(bide_store_open(&store, url, NULL, why, sizeof why),
                         0);
        assert_int_equal(ask(store, BIDE_STORE_CLAIM, "a"), BIDE_STORE_FIRST);
        assert_int_equal(ask(store, BIDE_STORE_CLAIM, "b"), BIDE_STORE_FIRST);
        assert_int_equal(remove(file), 0);
        assert_int_equal(ask(store, BIDE_STORE_CLAIM, "c"), BIDE_STORE_DOWN);
        bide_store_close(store);
        /* What was in the log is not lost. */
        assert_int_equal(bide_store_open(&store, url, NULL, why, sizeof why),
                         0);
        assert_int_equal(ask(store, BIDE_STORE_CLAIM, "a"),
                         BIDE_STORE_IN_PROGRESS);
        assert_int_equal(ask(store, BIDE_STORE_CLAIM, "c"), BIDE_STORE_FIRST);
        bide_store_close(store);
        snprintf(command, sizeof command, "rm -r %s", folder);
        assert_int_equal(system(command), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clock_never_goes_back),
        cmocka_unit_test(table_finds_what_was_put),
        cmocka_unit_test(network_file_systems_are_known),
        cmocka_unit_test(network_file_system_is_refused),
        cmocka_unit_test(results_have_names),
        cmocka_unit_test(expired_is_swept_from_memory),
        cmocka_unit_test(expired_is_swept_from_sqlite),
        cmocka_unit_test(removed_file_is_down),
        cmocka_unit_test(removed_log_is_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
