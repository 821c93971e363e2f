/* curl_easy_perform(h) -> bide_curl_perform(dep, h, NULL) in a program that sets
 * headers, callbacks and bodies: nothing is lost, nothing comes twice. */
#include "dropin.h"

static bide_dep *dep;

static int start(void **state)
{
    bide_policy_conf conf = quick();
    dep = dep_of(&conf);
    return start_server(state);
}

static int stop(void **state)
{
    bide_dep_free(dep);
    return stop_server(state);
}

static void program_is_recorded(void **state)
{
    (void)state;
    struct program p;
    program_to(&p, "200");
    assert_true(bide_curl_recorded(p.easy));
    assert_false(bide_curl_recorded(NULL));
    program_done(&p);
}

static void get_keeps_headers_and_functions(void **state)
{
    (void)state;
    struct program p;
    program_to(&p, "503;body=no,close,200;n=999;cut=body,200;body=fine");
    assert_int_equal(bide_curl_perform(dep, p.easy, NULL), CURLE_OK);
    check_answer(&p, "fine");
    assert_int_equal(p.heads, 1);
    assert_int_equal(p.prereqs, 4);
    assert_true(p.progress > 0);
    check_arrived(4);
    assert_string_equal(fault_seen(&server, id, 4, "attempt"), "4; max=4");
    program_done(&p);
}

static void post_keeps_its_body_and_is_made_once(void **state)
{
    (void)state;
    struct program p;
    program_to(&p, "503;body=sorry,200");
    program_post(&p);
    assert_int_equal(bide_curl_perform(dep, p.easy, NULL), CURLE_OK);
    assert_string_equal(p.body, "sorry");
    assert_int_equal(fault_count(&server, id, "body"), 5);
    check_arrived(1);
    program_done(&p);
}

static void post_gets_a_key_beside_its_headers(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    conf.idempotency_key = BIDE_KEY_GENERATE;
    bide_dep *with_key = dep_of(&conf);
    struct program p;
    program_to(&p, "503;body=no,200;body=fine");
    program_post(&p);
    assert_int_equal(bide_curl_perform(with_key, p.easy, NULL), CURLE_OK);
    check_answer(&p, "fine");
    check_arrived(2);
    assert_int_equal(strlen(fault_seen(&server, id, 2, "key")), 36 + 2);
    program_done(&p);
    bide_dep_free(with_key);
}

static void put_is_sent_again_if_it_can_seek(void **state)
{
    (void)state;
    for (int seeks = 0; seeks <= 1; seeks++) {
        struct program p;
        program_to(&p, "503;body=no,200;body=fine");
        program_put(&p, seeks);
        assert_int_equal(bide_curl_perform(dep, p.easy, NULL), CURLE_OK);
        assert_string_equal(p.body, seeks ? "fine" : "no");
        assert_int_equal(p.seeks, seeks);
        assert_int_equal(fault_count(&server, id, "complete"), 1 + seeks);
        check_arrived(1 + seeks);
        program_done(&p);
    }
}

/* From where the file was, which need not be its beginning. */
static void put_of_a_file_is_sent_again(void **state)
{
    (void)state;
    struct program p;
    FILE *file = tmpfile();
    fputs("not this; this", file);
    fseek(file, 10, SEEK_SET);
    program_to(&p, "503;body=no,200;body=fine");
    program_put_file(&p, file);
    assert_int_equal(bide_curl_perform(dep, p.easy, NULL), CURLE_OK);
    check_answer(&p, "fine");
    check_arrived(2);
    assert_int_equal(fault_count(&server, id, "body"), 4);
    assert_int_equal(ftell(file), 14);
    program_done(&p);
    fclose(file);
}

static void handle_is_as_it_was(void **state)
{
    (void)state;
    struct program p;
    program_to(&p, "503;body=no,200;body=fine,200;body=bare,503;body=no,"
                   "200;body=again");
    bide_curl_perform(dep, p.easy, NULL);
    check_answer(&p, "fine");
    clear(&p);
    assert_int_equal(program_perform(&p), CURLE_OK); /* without bide */
    check_answer(&p, "bare");
    assert_int_equal(p.prereqs, 1);
    assert_string_equal(fault_seen(&server, id, 3, "attempt"), "");
    clear(&p);
    program_copy(&p);
    bide_curl_perform(dep, p.easy, NULL);
    check_answer(&p, "again");
    check_arrived(5);
    program_done(&p);
}

/* The policy allows ten seconds, the program allows less: it would wait for
 * ever, were that forgotten once. */
static void timeout_of_the_program_counts(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    conf.attempt_timeout_ns = BIDE_HOUR;
    bide_dep *patient = dep_of(&conf);
    struct program p;
    program_to(&p, "stall");
    program_timeout(&p, 50);
    assert_int_equal(bide_curl_perform(patient, p.easy, NULL),
                     CURLE_OPERATION_TIMEDOUT);
    check_arrived(4);
    assert_int_equal(program_perform(&p), CURLE_OPERATION_TIMEDOUT);
    program_done(&p);
    bide_dep_free(patient);
}

static void multi_keeps_headers_and_functions(void **state)
{
    (void)state;
    bide_curl_multi *m;
    struct program p;
    assert_int_equal(bide_curl_multi_new(&m), 0);
    program_to(&p, "503;body=no,200;body=fine");
    assert_int_equal(bide_curl_multi_add(m, dep, p.easy, NULL, NULL, NULL), 0);
    bide_curl_multi_run(m, BIDE_FOREVER);
    check_answer(&p, "fine");
    check_arrived(2);
    bide_curl_multi_free(m);
    program_done(&p);
}

static void reset_forgets_what_was_set(void **state)
{
    (void)state;
    struct program p;
    program_to(&p, "200;body=unused");
    program_reset(&p);
    assert_true(bide_curl_recorded(p.easy));
    curl_easy_setopt(p.easy, CURLOPT_URL, "file:///dev/null");
    assert_int_equal(bide_curl_perform(dep, p.easy, NULL), CURLE_OK);
    assert_int_equal(p.bodies + p.heads, 0);
    program_done(&p);
}

/* A record is found by its handle only: not by a copy that libcurl made, nor by
 * whoever writes the same name into another handle. */
static void record_of_another_handle_is_not_taken(void **state)
{
    (void)state;
    struct program p, q;
    const char *name = NULL;
    program_to(&p, "200");
    program_to(&q, "200");
    curl_easy_getinfo(p.easy, CURLINFO_RTSP_SESSION_ID, &name);
    assert_non_null(name);
    curl_easy_setopt(q.easy, CURLOPT_RTSP_SESSION_ID, name);
    assert_false(bide_curl_recorded(q.easy));
    static const char *const forged[] = { "bide record 99999999.1",
                                          "bide record 0.0", "bide record x",
                                          "bide record 1", "" };
    for (size_t i = 0; i < COUNT(forged); i++) {
        curl_easy_setopt(q.easy, CURLOPT_RTSP_SESSION_ID, forged[i]);
        assert_false(bide_curl_recorded(q.easy));
    }
    program_done(&p);
    program_done(&q);
}

/* More than one block of records, used again after they were given back. */
static void many_handles_are_recorded(void **state)
{
    (void)state;
    enum { N = 300 };
    CURL *easy[N];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < N; i++) {
            easy[i] = curl_easy_init();
            assert_true(bide_curl_recorded(easy[i]));
        }
        for (int i = 0; i < N; i++)
            curl_easy_cleanup(easy[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_is_recorded),
        cmocka_unit_test(get_keeps_headers_and_functions),
        cmocka_unit_test(post_keeps_its_body_and_is_made_once),
        cmocka_unit_test(post_gets_a_key_beside_its_headers),
        cmocka_unit_test(put_is_sent_again_if_it_can_seek),
        cmocka_unit_test(put_of_a_file_is_sent_again),
        cmocka_unit_test(handle_is_as_it_was),
        cmocka_unit_test(timeout_of_the_program_counts),
        cmocka_unit_test(multi_keeps_headers_and_functions),
        cmocka_unit_test(reset_forgets_what_was_set),
        cmocka_unit_test(record_of_another_handle_is_not_taken),
        cmocka_unit_test(many_handles_are_recorded),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
