/* The multi driver: many calls at once, by its own loop and by another's. */
#include <pthread.h>
#include <sys/epoll.h>

#include "common.h"

static bide_curl_multi *multi_of(void)
{
    bide_curl_multi *m = NULL;
    assert_int_equal(bide_curl_multi_new(&m), 0);
    return m;
}

/* How often each call was said to have ended. */
struct told {
    int times;
    bide_curl_result result;
};

static void tell(void *ctx, CURL *easy, const bide_curl_result *result)
{
    struct told *t = ctx;
    assert_non_null(easy);
    t->times++;
    t->result = *result;
}

static void add(bide_curl_multi *m, bide_dep *dep, struct exchange *x,
                struct told *told)
{
    told->times = 0;
    assert_int_equal(bide_curl_multi_add(m, dep, x->easy, &x->opts, tell, told),
                     0);
}

/* ===== a thousand ===== */

enum { MANY = 1000 };

static struct exchange many[MANY];
static struct told told_many[MANY];

/* Each call is told once, with a reason; the server counts as many requests as
 * bide counts attempts, for each call and in all. */
static void check_many(uint32_t most)
{
    for (int i = 0; i < MANY; i++) {
        const bide_curl_result *r = &told_many[i].result;
        assert_int_equal(told_many[i].times, 1);
        assert_in_range(r->attempts, 1, most);
        if (r->reason == BIDE_BECAUSE_SUCCESS)
            assert_string_equal(many[i].body, "status 200\n");
        else
            assert_int_equal(r->reason, BIDE_BECAUSE_ATTEMPTS);
    }
}

static int attempts_of_many(void)
{
    int n = 0;
    for (int i = 0; i < MANY; i++)
        n += (int)told_many[i].result.attempts;
    return n;
}

static void multi_thousand_against_30_percent_failures_loses_none(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    conf.attempts = 6;
    bide_dep *dep = dep_of(&conf);
    bide_curl_multi *m = multi_of();
    char forgotten[512];
    fault_ask(&server, "/forget", forgotten, sizeof forgotten);
    for (int i = 0; i < MANY; i++) {
        exchange_init(&many[i], "rand;p=30;seed=4");
        add(m, dep, &many[i], &told_many[i]);
    }
    assert_int_equal(bide_curl_multi_run(m, BIDE_FOREVER), 0);
    check_many(conf.attempts);
    assert_int_equal(fault_count(&server, NULL, "requests"),
                     attempts_of_many());
    assert_int_equal(fault_count(&server, NULL, "ids"), MANY);
    assert_in_range(fault_count(&server, NULL, "most"), 2, conf.attempts);
    for (int i = 0; i < MANY; i += 97)
        assert_int_equal(requests(&many[i]), told_many[i].result.attempts);
    for (int i = 0; i < MANY; i++)
        exchange_done(&many[i]);
    bide_curl_multi_free(m);
    bide_dep_free(dep);
}

/* The same with POSTs: those that may have been processed are not repeated. */
static void multi_thousand_posts_are_never_doubled(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    bide_curl_multi *m = multi_of();
    char forgotten[512];
    fault_ask(&server, "/forget", forgotten, sizeof forgotten);
    for (int i = 0; i < MANY; i++) {
        exchange_init(&many[i], "rand;p=30;seed=5");
        curl_easy_setopt(many[i].easy, CURLOPT_POSTFIELDS, "pay=1");
        add(m, dep, &many[i], &told_many[i]);
    }
    assert_int_equal(bide_curl_multi_run(m, BIDE_FOREVER), 0);
    assert_int_equal(fault_count(&server, NULL, "requests"), MANY);
    assert_int_equal(fault_count(&server, NULL, "most"), 1);
    int failed = 0;
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(told_many[i].times, 1);
        failed += told_many[i].result.reason == BIDE_BECAUSE_NOT_IDEMPOTENT;
        exchange_done(&many[i]);
    }
    assert_in_range(failed, 200, 400);
    bide_curl_multi_free(m);
    bide_dep_free(dep);
}

static void multi_cap_on_flight_queues_and_all_get_through(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    conf.limits.in_flight = 5;
    conf.limits.queue = MANY;
    conf.limits.queue_timeout_ns = BIDE_HOUR;
    bide_dep *dep = dep_of(&conf);
    bide_curl_multi *m = multi_of();
    for (int i = 0; i < MANY; i++) {
        exchange_init(&many[i], "200");
        add(m, dep, &many[i], &told_many[i]);
    }
    assert_int_equal(bide_curl_multi_run(m, BIDE_FOREVER), 0);
    check_many(1);
    for (int i = 0; i < MANY; i++)
        exchange_done(&many[i]);
    bide_curl_multi_free(m);
    bide_dep_free(dep);
}

/* ===== an event loop of the application's own ===== */

static void watch(void *ctx, curl_socket_t socket, int what)
{
    int epoll = *(int *)ctx;
    struct epoll_event e = { .data.fd = socket };
    e.events = (uint32_t)((what & CURL_POLL_IN ? EPOLLIN : 0) |
                          (what & CURL_POLL_OUT ? EPOLLOUT : 0));
    if (what == CURL_POLL_REMOVE)
        epoll_ctl(epoll, EPOLL_CTL_DEL, socket, &e);
    else if (epoll_ctl(epoll, EPOLL_CTL_MOD, socket, &e) < 0)
        epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &e);
}

static int wait_ms(int64_t until_ns)
{
    int64_t left = until_ns - bide_now_ns();
    if (until_ns == BIDE_FOREVER)
        return -1;
    return left <= 0 ? 0 : (int)(left / MS + 1);
}

static void turn(bide_curl_multi *m, int epoll)
{
    struct epoll_event ready[16];
    int n = epoll_wait(epoll, ready, 16, wait_ms(bide_curl_multi_next(m)));
    for (int i = 0; i < n; i++) {
        uint32_t e = ready[i].events;
        bide_curl_multi_socket(m, ready[i].data.fd,
                               (e & EPOLLIN ? CURL_CSELECT_IN : 0) |
                                   (e & EPOLLOUT ? CURL_CSELECT_OUT : 0));
    }
    bide_curl_multi_timeout(m);
}

static void multi_in_an_epoll_loop_of_ones_own(void **state)
{
    (void)state;
    enum { N = 50 };
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    bide_curl_multi *m = multi_of();
    int epoll = epoll_create1(0), left = N;
    bide_curl_multi_watch(m, watch, &epoll);
    for (int i = 0; i < N; i++) {
        exchange_init(&many[i], "503,close,200;n=3000;trickle=0;pause=2");
        add(m, dep, &many[i], &told_many[i]);
    }
    while (left > 0) {
        turn(m, epoll);
        left = 0;
        for (int i = 0; i < N; i++)
            left += told_many[i].times == 0;
    }
    for (int i = 0; i < N; i++) {
        assert_int_equal(told_many[i].result.reason, BIDE_BECAUSE_SUCCESS);
        assert_int_equal(told_many[i].result.attempts, 3);
        assert_int_equal(many[i].body_len, 3000);
        exchange_done(&many[i]);
    }
    bide_curl_multi_free(m);
    close(epoll);
    bide_dep_free(dep);
}

/* ===== calls that end otherwise ===== */

static void multi_cancelled_calls_are_told(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    bide_curl_multi *m = multi_of();
    struct exchange x[3];
    struct told told[3];
    exchange_init(&x[0], "stall");
    exchange_init(&x[1], "503;h=Retry-After:200");
    exchange_init(&x[2], "200");
    for (int i = 0; i < 3; i++)
        add(m, dep, &x[i], &told[i]);
    assert_int_equal(
        bide_curl_multi_add(m, dep, x[0].easy, NULL, NULL, NULL), BIDE_ESTATE);
    while (!told[2].times || requests(&x[0]) < 1 || requests(&x[1]) < 1)
        bide_curl_multi_run(m, bide_now_ns() + 5 * MS);
    assert_int_equal(bide_curl_multi_cancel(m, x[0].easy), 0);
    assert_int_equal(bide_curl_multi_cancel(m, x[2].easy), BIDE_ESTATE);
    assert_int_equal(told[0].times, 0);
    assert_int_equal(bide_curl_multi_run(m, bide_now_ns() + 5 * MS), 1);
    assert_int_equal(told[0].result.reason, BIDE_BECAUSE_CANCELLED);
    bide_curl_multi_free(m);
    assert_int_equal(told[1].times, 1);
    assert_int_equal(told[1].result.reason, BIDE_BECAUSE_CANCELLED);
    assert_int_equal(told[1].result.status, 503);
    for (int i = 0; i < 3; i++)
        exchange_done(&x[i]);
    bide_dep_free(dep);
}

/* A call that ends adds the next, on the same handle. */
struct chain {
    bide_curl_multi *m;
    bide_dep *dep;
    struct exchange *x;
    int left;
};

static void add_next(void *ctx, CURL *easy, const bide_curl_result *result)
{
    struct chain *c = ctx;
    assert_int_equal(result->reason, BIDE_BECAUSE_SUCCESS);
    if (--c->left > 0)
        assert_int_equal(bide_curl_multi_add(c->m, c->dep, easy, &c->x->opts,
                                             add_next, c), 0);
}

static void multi_done_may_add_again(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    exchange_init(&x, "503,200");
    struct chain c = { multi_of(), dep, &x, 20 };
    bide_curl_multi_add(c.m, dep, x.easy, &x.opts, add_next, &c);
    assert_int_equal(bide_curl_multi_run(c.m, BIDE_FOREVER), 0);
    assert_int_equal(c.left, 0);
    assert_int_equal(requests(&x), 21);
    assert_non_null(bide_curl_multi_handle(c.m));
    bide_curl_multi_free(c.m);
    exchange_done(&x);
    bide_dep_free(dep);
}

static void multi_mistakes_are_refused(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    bide_curl_multi *m = multi_of();
    CURL *easy = curl_easy_init();
    assert_int_equal(bide_curl_multi_new(NULL), BIDE_EINVAL);
    assert_int_equal(bide_curl_multi_add(NULL, dep, easy, NULL, NULL, NULL),
                     BIDE_EINVAL);
    assert_int_equal(bide_curl_multi_add(m, NULL, easy, NULL, NULL, NULL),
                     BIDE_EINVAL);
    assert_int_equal(bide_curl_multi_add(m, dep, NULL, NULL, NULL, NULL),
                     BIDE_EINVAL);
    assert_int_equal(bide_curl_multi_cancel(m, easy), BIDE_ESTATE);
    assert_int_equal(bide_curl_multi_run(m, BIDE_FOREVER), 0);
    assert_true(bide_curl_multi_next(m) == BIDE_FOREVER);
    bide_curl_multi_free(m);
    bide_curl_multi_free(NULL);
    curl_easy_cleanup(easy);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multi_thousand_against_30_percent_failures_loses_none),
        cmocka_unit_test(multi_thousand_posts_are_never_doubled),
        cmocka_unit_test(multi_cap_on_flight_queues_and_all_get_through),
        cmocka_unit_test(multi_in_an_epoll_loop_of_ones_own),
        cmocka_unit_test(multi_cancelled_calls_are_told),
        cmocka_unit_test(multi_done_may_add_again),
        cmocka_unit_test(multi_mistakes_are_refused),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
