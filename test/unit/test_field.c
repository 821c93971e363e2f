/* test_field.c: what follows from a table of fields: that two structs are the
 * same, by every row; and which rows cannot change while a program runs. */
#include "findings.h"

#include "config/field/option_value.h"
#include "config/field/own.h"
#include "config/field/same.h"
#include "config/field/text.h"
#include "config/proxy/conf.h"

/* Every list and every map of the section, with something in it. */
static const char whole[] =
    "version: 1\n"
    "policies: { default: { attempts: 2 } }\n"
    "proxy:\n"
    "  listen: [127.0.0.1:8080, unix:/a]\n"
    "  admin: 127.0.0.1:9901\n"
    "  admin_access: { token: 0123456789abcdef, certificate: c, key: k,\n"
    "                  hosts: [a, b] }\n"
    "  telemetry: { otlp: https://a, ca: c, log: /l }\n"
    "  trusted: [127.0.0.1, 10.0.0.0/8]\n"
    "  access_log: /log\n"
    "  user: a\n"
    "  group: b\n"
    "  tls: { certificate: c, key: k, client_ca: ca,\n"
    "         certificates: [{ certificate: c, key: k }] }\n"
    "  routes:\n"
    "    - match: { host: h, path: /p, method: GET, header: X, value: v }\n"
    "      upstream: a\n"
    "      policy: default\n"
    "      fallback: { upstream: b, policy: default, body: x,\n"
    "                  content_type: text/html }\n"
    "      fault: { abort: 503 }\n"
    "      priority: { header: Priority }\n"
    "      idempotency: { accept: optional, methods: [PUT, POST], caller: X }\n"
    "  upstreams:\n"
    "    a: { endpoints: [http://a, http://b],\n"
    "         health: { path: /, host: h },\n"
    "         tls: { ca: c, certificate: c, key: k, server_name: n } }\n"
    "    b: { endpoints: http://a }\n";

/* Threads: owned. */
struct pair {
    const struct bide__proxy_conf *a, *b;
    size_t seen;
};

static void must_differ(struct pair *p, const struct bide__field *f)
{
    if (bide__fields_same(&bide__proxy_table, p->a, p->b))
        fail_msg("`%s` has changed, and that goes unnoticed", f->key);
    p->seen++;
}

/* Changes bytes, looks, and changes them back. */
static void with_bytes(struct pair *p, const struct bide__field *f, void *at,
                       const void *other, size_t size)
{
    char before[128];

    assert_true(size <= sizeof before);
    memcpy(before, at, size);
    memcpy(at, other, size);
    must_differ(p, f);
    memcpy(at, before, size);
    assert_true(bide__fields_same(&bide__proxy_table, p->a, p->b));
}

static void with_text(struct pair *p, const struct bide__field *f, void *at)
{
    const char *other = "other", *none = NULL, *text;

    memcpy(&text, at, sizeof text);
    with_bytes(p, f, at, &other, sizeof other);
    if (text)
        with_bytes(p, f, at, &none, sizeof none);
}

/* Another value of a field that text can set. */
static void with_value(struct pair *p, const struct bide__field *f, void *to)
{
    static const char *const texts[] = { "1",  "9",   "250", "404", "7ms",
                                         "2s", "77%", "5/s", "true", "false",
                                         "5KiB", "99KiB", "2MiB" };
    char was[64], back[64];
    size_t n = sizeof texts / sizeof texts[0], seen = p->seen;

    snprintf(was, sizeof was, "%s",
             bide__field_text(f, to, back, sizeof back));
    for (size_t i = 0; i < n || (f->choices && f->choices[i - n]); i++) {
        const char *text = i < n ? texts[i] : f->choices[i - n];

        if (bide__field_set(f, to, text, strlen(text)) != BIDE__SET_OK ||
            strcmp(bide__field_text(f, to, back, sizeof back), was) == 0)
            continue;
        must_differ(p, f);
    }
    assert_int_equal(bide__field_set(f, to, was, strlen(was)), BIDE__SET_OK);
    if (p->seen == seen)
        fail_msg("`%s`: no other value to try", f->key);
}

static void *first_of(const struct bide__field *f, const char *from)
{
    void *first;

    memcpy(&first, from + f->offset, sizeof first);
    if (!first)
        fail_msg("`%s` is not in the file of this test", f->key);
    return first;
}

static void change_each(struct pair *p, const struct bide__table *table,
                        char *to)
{
    static const char junk[128] = { 0x55, 0x55, 0x55, 0x55 };
    const size_t none = 0;

    for (const struct bide__field *f = table->fields; f->key; f++) {
        char *at = to + f->offset;

        if (f->type == BIDE__FIELDS) {
            change_each(p, f->table, at);
        } else if (f->type == BIDE__LIST_OF || f->type == BIDE__MAP_OF) {
            change_each(p, f->table, first_of(f, to));
            with_bytes(p, f, to + f->n_offset, &none, sizeof none);
            if (f->type == BIDE__MAP_OF)
                with_text(p, f,
                          (char *)first_of(f, to) + f->table->name_offset);
        } else if (f->type == BIDE__TEXTS) {
            with_text(p, f, first_of(f, to));
            with_bytes(p, f, to + f->n_offset, &none, sizeof none);
        } else if (f->type == BIDE__TEXT && f->item) {
            with_text(p, f, first_of(f, to));
        } else if (f->size > 0) {
            with_bytes(p, f, at, junk, f->size);
        } else if (f->type == BIDE__TEXT) {
            with_text(p, f, at);
        } else {
            with_value(p, f, to);
        }
    }
}

static void same_sees_a_change_of_every_row(void **state)
{
    bide_config *one = must_parse(whole), *other = must_parse(whole);
    struct pair p = { bide__config_proxy(one), bide__config_proxy(other), 0 };

    (void)state;
    assert_true(bide__fields_same(&bide__proxy_table, p.a, p.b));
    change_each(&p, &bide__proxy_table, (char *)(uintptr_t)p.a);
    assert_true(p.seen > 150);
    bide_config_free(one);
    bide_config_free(other);
}

/* What is kept does not point into a file that is gone. */
static void owned_outlives_its_file(void **state)
{
    bide_config *one = must_parse(whole), *other = must_parse(whole);
    struct bide__proxy_upstream u = bide__config_proxy(one)->upstreams[0];
    const struct bide__proxy_upstream *same =
        &bide__config_proxy(other)->upstreams[0];

    (void)state;
    assert_true(bide__fields_own(&bide__proxy_upstream_table, &u));
    bide_config_free(one);
    u.endpoints = same->endpoints; /* lists are not copied */
    assert_true(bide__fields_same(&bide__proxy_upstream_table, &u, same));
    bide__fields_disown(&bide__proxy_upstream_table, &u);
    bide_config_free(other);
}

/* ===== policies ===== */

static void same_sees_a_change_of_every_option(void **state)
{
    static const char *const texts[] = { "1",  "2",   "7",   "7ms",  "2s",
                                         "7%", "77%", "5/s", "true", "false" };
    size_t n, n_texts = sizeof texts / sizeof texts[0];
    const bide_option *options = bide_policy_options(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        const bide_option *o = &options[i];
        bide_policy_conf a = BIDE_POLICY_CONF_INIT, b = a;
        uint64_t hash = bide__policy_hash(1, &a);
        bool changed = false;

        assert_true(bide__policy_same(&a, &b));
        assert_true(bide__policy_hash(1, &b) == hash);
        for (size_t k = 0; !changed; k++) {
            const char *text = k < n_texts ? texts[k] : o->choices[k - n_texts];

            changed = bide__option_set(&b, o->key, text, strlen(text)) == 0 &&
                      !bide__option_same(&a, &b, o);
        }
        if (bide__policy_same(&a, &b) || bide__policy_hash(1, &b) == hash)
            fail_msg("%s has changed, and that goes unnoticed", o->key);
    }
}

static void same_sees_a_change_of_every_part_of_a_rule(void **state)
{
    static const bide_rule usual = { 500, 503, 2, 4, "GET", "X", "v", "t",
                                     BIDE_TRANSIENT, false, { 0 } };
    bide_rule rules[10], one[1] = { usual };
    bide_policy_conf a = BIDE_POLICY_CONF_INIT, b = a;
    uint64_t hash;

    (void)state;
    for (size_t i = 0; i < 10; i++)
        rules[i] = usual;
    rules[0].status_min = 1;
    rules[1].status_max = 1;
    rules[2].faults = 1;
    rules[3].grpc = 1;
    rules[4].method = NULL;
    rules[5].header = "Y";
    rules[6].header_value = NULL;
    rules[7].problem_type = "u";
    rules[8].cls = BIDE_PERMANENT;
    rules[9].not_processed = true;
    a.rules = one;
    a.n_rules = 1;
    hash = bide__policy_hash(0, &a);
    b.n_rules = 1;
    for (size_t i = 0; i < 10; i++) {
        b.rules = &rules[i];
        assert_false(bide__policy_same(&a, &b));
        assert_true(bide__policy_hash(0, &b) != hash);
    }
    b.rules = &usual;
    assert_true(bide__policy_same(&a, &b));
    assert_true(bide__policy_hash(0, &b) == hash);
    b.n_rules = 0;
    assert_false(bide__policy_same(&a, &b));
}

/* ===== what cannot change ===== */

static void fixed_is_named_by_its_path(void **state)
{
    static const struct {
        const char *key, *text, *path;
    } rows[] = {
        { "limits.header_bytes", "4KiB", "proxy.limits.header_bytes" },
        { "limits.headers", "50", NULL },
        { "supervise", "false", "proxy.supervise" },
        { "sandbox", "false", "proxy.sandbox" },
        { "telemetry.sample", "50%", "proxy.telemetry" },
        { "admin_access.insecure", "true", "proxy.admin_access" },
        { "paths", "normalize", NULL },
    };
    const struct bide__proxy_conf a = BIDE__PROXY_CONF_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bide__proxy_conf b = a;
        char path[64] = "proxy";
        size_t base;
        const struct bide__field *f =
            bide__field_find(&bide__proxy_table, rows[i].key, &base);

        assert_int_equal(bide__field_set(f, (char *)&b + base, rows[i].text,
                                         strlen(rows[i].text)),
                         BIDE__SET_OK);
        assert_int_equal(bide__fixed_differs(&bide__proxy_table, &a, &b, path,
                                             sizeof path),
                         rows[i].path != NULL);
        assert_string_equal(path, rows[i].path ? rows[i].path : "proxy");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_sees_a_change_of_every_row),
        cmocka_unit_test(owned_outlives_its_file),
        cmocka_unit_test(same_sees_a_change_of_every_option),
        cmocka_unit_test(same_sees_a_change_of_every_part_of_a_rule),
        cmocka_unit_test(fixed_is_named_by_its_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
