/* Names looked up by threads that nobody waits for. getaddrinfo() is ours here:
 * `known` has an address, `silent` is not answered until it is released, and
 * all others are unknown. */
#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bide/run.h"
#include "net/lookup.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int silent, released, answered;

static void await_release(void)
{
    pthread_mutex_lock(&lock);
    silent++;
    pthread_cond_broadcast(&changed);
    while (!released)
        pthread_cond_wait(&changed, &lock);
    answered++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void await(const int *number, int at_least)
{
    pthread_mutex_lock(&lock);
    while (*number < at_least)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void release(void)
{
    pthread_mutex_lock(&lock);
    released = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

int getaddrinfo(const char *node, const char *service,
                const struct addrinfo *hints, struct addrinfo **res)
{
    struct sockaddr_in *in;
    (void)service;
    (void)hints;
    if (strcmp(node, "silent") == 0)
        await_release();
    else if (strcmp(node, "known") != 0)
        return EAI_NONAME;
    *res = calloc(1, sizeof **res + sizeof *in);
    assert_non_null(*res);
    in = (struct sockaddr_in *)(*res + 1);
    in->sin_family = AF_INET;
    in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (*res)->ai_family = AF_INET;
    (*res)->ai_addr = (struct sockaddr *)in;
    (*res)->ai_addrlen = sizeof *in;
    return 0;
}

void freeaddrinfo(struct addrinfo *res)
{
    free(res);
}

static void lookup_a_known_name_is_answered(void **unused)
{
    struct net_lookups *l = net_lookups_new();
    (void)unused;
    assert_true(net_lookup(l, "known"));
    struct net_answer *a = net_lookups_next(l, BIDE_FOREVER);
    assert_string_equal(a->host, "known");
    assert_int_equal(a->found->n, 1);
    assert_int_equal(net_lookups_running(l), 0);
    struct net_addresses *at = net_addresses_at(a->found, 80);
    assert_int_equal(ntohs(at->list[0].to.in.sin_port), 80);
    free(at);
    net_answer_free(a);
    net_lookups_free(l);
}

static void lookup_an_unknown_name_has_a_reason(void **unused)
{
    struct net_lookups *l = net_lookups_new();
    (void)unused;
    assert_true(net_lookup(l, "unknown"));
    struct net_answer *a = net_lookups_next(l, BIDE_FOREVER);
    assert_null(a->found);
    assert_string_equal(a->why, gai_strerror(EAI_NONAME));
    net_answer_free(a);
    net_lookups_free(l);
}

static void lookup_time_and_waking_end_the_wait(void **unused)
{
    struct net_lookups *l = net_lookups_new();
    (void)unused;
    assert_null(net_lookups_next(l, bide_now_ns()));
    net_lookups_wake(l);
    assert_null(net_lookups_next(l, BIDE_FOREVER));
    net_lookups_free(l);
}

static void lookup_a_silent_name_holds_up_nobody(void **unused)
{
    struct net_lookups *l = net_lookups_new();
    (void)unused;
    assert_true(net_lookup(l, "silent"));
    await(&silent, 1);
    assert_true(net_lookup(l, "known"));
    struct net_answer *a = net_lookups_next(l, BIDE_FOREVER);
    assert_string_equal(a->host, "known");
    assert_int_equal(net_lookups_running(l), 1);
    net_answer_free(a);
    net_lookups_free(l); /* and is not waited for */
    release();
    await(&answered, 1);
}

static void lookup_many_are_all_answered(void **unused)
{
    enum { N = 200 };
    struct net_lookups *l = net_lookups_new();
    int asked = 0, got = 0;
    (void)unused;
    while (got < N) {
        while (asked < N && net_lookups_running(l) < 16)
            asked += net_lookup(l, asked % 3 ? "known" : "unknown");
        struct net_answer *a = net_lookups_next(l, BIDE_FOREVER);
        got += a != NULL;
        net_answer_free(a);
    }
    for (int i = 0; i < 16; i++)
        net_lookup(l, "known");
    net_lookups_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lookup_a_known_name_is_answered),
        cmocka_unit_test(lookup_an_unknown_name_has_a_reason),
        cmocka_unit_test(lookup_time_and_waking_end_the_wait),
        cmocka_unit_test(lookup_a_silent_name_holds_up_nobody),
        cmocka_unit_test(lookup_many_are_all_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
