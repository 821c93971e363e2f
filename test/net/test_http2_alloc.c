/* test_http2_alloc.c: memory that runs out, at each allocation of a connection's
 * life in turn: the connection fails, its streams are closed, and nothing is
 * used after, or lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static long left = -1; /* allocations until one fails; negative: none does */
static bool ran_out;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);

static bool fails(void)
{
    if (left < 0 || left-- != 0)
        return false;
    ran_out = true;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

/* What the tests themselves allocate does not fail. */
#define malloc __real_malloc
#define calloc __real_calloc
#include "http2_side.h"
#undef malloc
#undef calloc

static const char script[] =
    "HEADERS 1 es,eh @ok a:b x40026161026262 ; HEADERS 3 eh @put ;"
    "DATA 3 - 0*16384 ; DATA 3 - 0*16384 ; HEADERS 5 es,eh @/big ;"
    "PING 0 - 0*8 ; HEADERS 7 es @/trailers ; CONTINUATION 7 eh c:d";

/* A server's life; the nth allocation after its beginning fails. */
static void live(long nth)
{
    struct iovec iov[HTTP2_IOV];
    struct side s;
    int n;

    side_begin(&s, HTTP2_SERVER, NULL);
    s.bufs.size = 512; /* so that many are needed */
    left = nth;
    side_play(&s, script);
    n = http2_fill(&s.c, iov);
    if (n > 1) {
        http2_written(&s.c, iov[0].iov_len);
        if (side_find(&s, 5))
            side_release(side_find(&s, 5), HTTP2_CANCEL);
    }
    http2_shutdown(&s.c, s.now_ns);
    side_write(&s, 100);
    left = -1;
    assert_int_equal(s.c.broken, s.c.broken && s.c.failed);
    side_end(&s);
}

static void every_allocation_may_fail(void **state)
{
    long nth = 0;

    (void)state;
    do {
        ran_out = false;
        live(nth++);
    } while (ran_out);
    assert_true(nth > 10);
}

static void beginning_without_memory_fails(void **state)
{
    static const struct http2_conf conf = HTTP2_CONF_INIT;
    struct http2_shared shared;
    struct http2_conn c;
    struct net_bufs bufs;
    bool made;
    long nth = 0;

    (void)state;
    net_bufs_init(&bufs, 4096, 0);
    http2_shared_init(&shared, &bufs, 100, 16384);
    do {
        ran_out = false;
        left = nth++;
        made = http2_init(&c, HTTP2_CLIENT, &conf, &side_calls, &shared, 1);
        left = -1;
        assert_int_equal(made, !ran_out);
    } while (ran_out);
    http2_done(&c);
    assert_int_equal(bufs.n_taken, 0);
    assert_true(nth > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(beginning_without_memory_fails),
    };

    return cmocka_run_group_tests_name("http2_alloc", tests, NULL, NULL);
}
