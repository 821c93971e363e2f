/* test_store_conf.c: what `store:` comes to, and what it is without one. What is
 * wrong with it is shown by test/golden/check. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "findings.h"

#include <stdlib.h>

#include "config/store/conf.h"

#define HEAD "version: 1\npolicies: { default: { attempts: 2 } }\n"

static void url_is(const char *name, const char *text, const char *want)
{
    bide_config *config = NULL;
    assert_int_equal(
        bide_config_parse(&config, name, text, strlen(text), NULL), 0);
    assert_string_equal(bide__config_store(config)->url, want);
    bide_config_free(config);
}

static void store_without_is_beside_the_file(void **state)
{
    (void)state;
    static const struct {
        const char *name, *state, *want;
    } rows[] = {
        { "examples/idempotency.yaml", NULL, "sqlite:examples/idempotency.db" },
        { "shop.yml", NULL, "sqlite:shop.db" },
        { "shop", NULL, "sqlite:shop.db" },
        { "/shop.yaml", NULL, "sqlite:/shop.db" },
        { "/etc/bide/shop.yaml", NULL, "sqlite:/etc/bide/shop.db" },
        { "a.b/c.d", NULL, "sqlite:a.b/c.d.db" },
        { ".yaml", NULL, "sqlite:.yaml.db" },
        { "-", NULL, "sqlite:bide.db" },
        { "/etc/bide/shop.yaml", "/var/lib/bide", "sqlite:/var/lib/bide/shop.db" },
        { "shop.yaml", "/var/lib/a:/var/lib/b", "sqlite:/var/lib/a/shop.db" },
        { "shop.yaml", "", "sqlite:shop.db" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].state)
            setenv("STATE_DIRECTORY", rows[i].state, 1);
        else
            unsetenv("STATE_DIRECTORY");
        url_is(rows[i].name, HEAD, rows[i].want);
    }
    unsetenv("STATE_DIRECTORY");
    url_is("shop.json", "{ \"version\": 1, \"policies\": { \"a\": {} } }",
           "sqlite:shop.db");
}

static void store_url_is_as_written(void **state)
{
    (void)state;
    url_is("a.yaml", HEAD "store: memory\n", "memory");
    url_is("a.yaml", HEAD "store: redis://127.0.0.1:6379\n",
           "redis://127.0.0.1:6379");
    url_is("a.yaml", HEAD "store: { url: \"sqlite:x.db\" }\n", "sqlite:x.db");
    url_is("a.yaml", HEAD "store: { limit: 2MiB }\n", "sqlite:a.db");
}

static void store_keys_are_read(void **state)
{
    bide_config *config =
        must_parse(HEAD "store: { url: memory, durability: relaxed, "
                        "limit: 2MiB, timeout: 1s }\n");
    const struct bide__store_settings *s = bide__config_store(config);
    (void)state;
    assert_true(s->stated);
    assert_true(s->relaxed);
    assert_int_equal(s->limit_bytes, 2 << 20);
    assert_int_equal(s->timeout_ns, 1000000000);
    bide_config_free(config);
    config = must_parse(HEAD);
    s = bide__config_store(config);
    assert_false(s->stated);
    assert_false(s->relaxed);
    assert_int_equal(s->limit_bytes, 1 << 30);
    assert_int_equal(s->timeout_ns, 250000000);
    bide_config_free(config);
    config = must_parse(HEAD "store: { limit: none }\n");
    assert_true(bide__config_store(config)->limit_bytes == INT64_MAX);
    bide_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_without_is_beside_the_file),
        cmocka_unit_test(store_url_is_as_written),
        cmocka_unit_test(store_keys_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
