/* bide_curl_perform(): who owns the retries, in the requests that are sent and in
 * the header fields that an application passes on. */
#include "common.h"
#include "curl/claim.h"

static const char *seen(const struct exchange *x, int n, const char *what)
{
    return fault_seen(&server, x->id, n, what);
}

/* Performs `script` under `conf`, with these header fields (NULL: none). */
static void perform(struct exchange *x, const bide_policy_conf *conf,
                    const char *const *fields)
{
    bide_dep *dep = dep_of(conf);
    for (; fields && *fields; fields++)
        x->opts.headers = curl_slist_append(x->opts.headers, *fields);
    bide_curl_perform(dep, x->easy, &x->opts);
    curl_slist_free_all(x->opts.headers);
    bide_dep_free(dep);
}

static void claim_is_sent_by_those_who_could_retry(void **state)
{
    static const struct {
        uint32_t attempts;
        const char *post;
        bide_key key;
        const char *attempt, *baggage;
    } rows[] = {
        { 4, NULL, BIDE_KEY_NONE, "1; max=4", "bide.attempt=1,bide.max=4" },
        { 1, NULL, BIDE_KEY_NONE, "", "" },
        { 4, "pay=1", BIDE_KEY_NONE, "", "" },
        { 2, "pay=1", BIDE_KEY_GENERATE, "1; max=2",
          "bide.attempt=1,bide.max=2" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_policy_conf conf = quick();
        struct exchange x;
        conf.attempts = rows[i].attempts;
        conf.idempotency_key = rows[i].key;
        exchange_init(&x, "200");
        if (rows[i].post)
            curl_easy_setopt(x.easy, CURLOPT_POSTFIELDS, rows[i].post);
        perform(&x, &conf, NULL);
        assert_string_equal(seen(&x, 1, "attempt"), rows[i].attempt);
        assert_string_equal(seen(&x, 1, "baggage"), rows[i].baggage);
        exchange_done(&x);
    }
}

static void claim_that_is_passed_on_is_heeded(void **state)
{
    static const char *const fields[] = {
        "X-Mine: 1", "Baggage: tenant=acme;p=q,bide.attempt=5,bide.max=6",
        "baggage: bide.max=9", "X-Other: 2", NULL
    };
    bide_policy_conf conf = quick();
    struct exchange x;
    (void)state;
    exchange_init(&x, "503,200");
    perform(&x, &conf, fields);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_UPSTREAM_RETRIES);
    assert_int_equal(requests(&x), 1);
    assert_string_equal(seen(&x, 1, "attempt"), "5; max=6");
    assert_string_equal(seen(&x, 1, "baggage"),
                        "tenant=acme;p=q,bide.attempt=5,bide.max=6");
    exchange_done(&x);

    conf.nested = BIDE_NESTED_RETRY; /* ours replaces it, theirs stays */
    exchange_init(&x, "503,200");
    perform(&x, &conf, fields);
    assert_int_equal(requests(&x), 2);
    assert_string_equal(seen(&x, 2, "attempt"), "2; max=4");
    assert_string_equal(seen(&x, 2, "baggage"),
                        "tenant=acme;p=q,bide.attempt=2,bide.max=4");
    exchange_done(&x);
}

static void claim_of_headers_that_are_copied_counts_too(void **state)
{
    static const char *const fields[] = { "x-bide-attempt: 2; max=3",
                                          "X-Bide-Timeout-Ms: 60000", NULL };
    bide_policy_conf conf = quick();
    struct exchange x;
    (void)state;
    exchange_init(&x, "503,200");
    perform(&x, &conf, fields);
    assert_int_equal(requests(&x), 1);
    assert_string_equal(seen(&x, 1, "attempt"), "2; max=3");
    assert_in_range(atoi(seen(&x, 1, "timeout_ms")), 1, 60000);
    assert_non_null(strstr(seen(&x, 1, "baggage"), "bide.deadline="));
    exchange_done(&x);
}

static void claim_of_others_counts_if_trusted(void **state)
{
    static const char *const fields[] = { "amz-sdk-request: attempt=1; max=3",
                                          NULL };
    bide_policy_conf conf = quick();
    struct exchange x;
    (void)state;
    exchange_init(&x, "503,200");
    perform(&x, &conf, fields);
    assert_int_equal(requests(&x), 2);
    exchange_done(&x);
    conf.trust.aws = true;
    exchange_init(&x, "503,200");
    perform(&x, &conf, fields);
    assert_int_equal(requests(&x), 1);
    exchange_done(&x);
}

static void claim_is_told_as_far_as_wanted(void **state)
{
    static const struct {
        bide_curl_tell tell;
        const char *attempt, *baggage;
    } rows[] = {
        { BIDE_CURL_TELL_ALL, "1; max=4", "a=b,bide.attempt=1,bide.max=4" },
        { BIDE_CURL_TELL_PRIVATE, "1; max=4", "a=b,bide.attempt=1,bide.max=4" },
        { BIDE_CURL_TELL_NOBODY, "", "a=b" },
    };
    static const char *const fields[] = { "baggage: a=b", NULL };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_policy_conf conf = quick();
        struct exchange x;
        exchange_init(&x, "200");
        x.opts.tell = rows[i].tell;
        perform(&x, &conf, fields);
        assert_string_equal(seen(&x, 1, "attempt"), rows[i].attempt);
        assert_string_equal(seen(&x, 1, "baggage"), rows[i].baggage);
        exchange_done(&x);
    }
}

/* Which addresses are private: no third party is asked for it. */
static void addresses_are_told_apart(void **state)
{
    static const struct {
        const char *ip;
        bool told;
    } rows[] = {
        { "127.0.0.1", true },
        { "127.255.0.9", true },
        { "10.1.2.3", true },
        { "172.16.0.1", true },
        { "172.31.255.255", true },
        { "192.168.1.1", true },
        { "169.254.3.4", true },
        { "100.64.0.1", true },
        { "100.127.9.9", true },
        { "::1", true },
        { "fd00::1", true },
        { "fe80::1%eth0", true },
        { "::ffff:10.0.0.1", true },
        { "", true },
        { "8.8.8.8", false },
        { "172.15.0.1", false },
        { "172.32.0.1", false },
        { "192.169.0.1", false },
        { "100.63.0.1", false },
        { "100.128.0.1", false },
        { "11.0.0.1", false },
        { "2001:db8::1", false },
        { "::ffff:8.8.8.8", false },
        { "fec0::1", false },
        { "::", false },
        { "not an address", false },
    };
    bide_curl_opts opts = { .tell = BIDE_CURL_TELL_PRIVATE };
    struct bide__curl_call c = { .opts = &opts };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (bide__claim_told(&c, rows[i].ip) != rows[i].told)
            fail_msg("%s", rows[i].ip);
    assert_true(bide__claim_told(&c, NULL)); /* a Unix socket */
    opts.tell = BIDE_CURL_TELL_ALL;
    assert_true(bide__claim_told(&c, "8.8.8.8"));
    opts.tell = BIDE_CURL_TELL_NOBODY;
    assert_false(bide__claim_told(&c, "127.0.0.1"));
}

/* The application has its list back as it was, and may use it again. */
static void headers_of_the_application_are_left_alone(void **state)
{
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    (void)state;
    exchange_init(&x, "503,200");
    x.opts.headers = curl_slist_append(NULL, "baggage: a=b,bide.max=3");
    curl_slist_append(x.opts.headers, "X-Mine: 1");
    for (int i = 0; i < 2; i++)
        bide_curl_perform(dep, x.easy, &x.opts);
    assert_string_equal(x.opts.headers->data, "baggage: a=b,bide.max=3");
    assert_string_equal(x.opts.headers->next->data, "X-Mine: 1");
    assert_null(x.opts.headers->next->next);
    curl_slist_free_all(x.opts.headers);
    exchange_done(&x);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claim_is_sent_by_those_who_could_retry),
        cmocka_unit_test(claim_that_is_passed_on_is_heeded),
        cmocka_unit_test(claim_of_headers_that_are_copied_counts_too),
        cmocka_unit_test(claim_of_others_counts_if_trusted),
        cmocka_unit_test(claim_is_told_as_far_as_wanted),
        cmocka_unit_test(addresses_are_told_apart),
        cmocka_unit_test(headers_of_the_application_are_left_alone),
    };

    return cmocka_run_group_tests(tests, start_server, stop_server);
}
