/* test_outcome.c: names, errno and methods. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bide/error.h"
#include "bide/outcome.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void outcome_errno_has_fault_and_class(void **state)
{
    static const struct {
        int err;
        bide_fault fault;
        bide_class cls;
        bool unsent; /* proves it, whatever the caller knows */
    } rows[] = {
        { 0, BIDE_FAULT_NONE, BIDE_SUCCESS, false },
        { ECONNREFUSED, BIDE_FAULT_CONNECT, BIDE_TRANSIENT, true },
        { EHOSTUNREACH, BIDE_FAULT_CONNECT, BIDE_TRANSIENT, false },
        { ENETUNREACH, BIDE_FAULT_CONNECT, BIDE_TRANSIENT, false },
        { ENETDOWN, BIDE_FAULT_CONNECT, BIDE_TRANSIENT, false },
        { EHOSTDOWN, BIDE_FAULT_CONNECT, BIDE_TRANSIENT, false },
        { ENONET, BIDE_FAULT_CONNECT, BIDE_TRANSIENT, false },
        { EADDRNOTAVAIL, BIDE_FAULT_LOCAL, BIDE_TRANSIENT, true },
        { EADDRINUSE, BIDE_FAULT_LOCAL, BIDE_TRANSIENT, true },
        { EMFILE, BIDE_FAULT_LOCAL, BIDE_TRANSIENT, true },
        { ENFILE, BIDE_FAULT_LOCAL, BIDE_TRANSIENT, true },
        { ENOMEM, BIDE_FAULT_LOCAL, BIDE_TRANSIENT, false },
        { ENOBUFS, BIDE_FAULT_LOCAL, BIDE_TRANSIENT, false },
        { EBUSY, BIDE_FAULT_LOCAL, BIDE_TRANSIENT, false },
        { ENOLCK, BIDE_FAULT_LOCAL, BIDE_TRANSIENT, false },
        { EDEADLK, BIDE_FAULT_LOCAL, BIDE_TRANSIENT, false },
        { ETXTBSY, BIDE_FAULT_LOCAL, BIDE_TRANSIENT, false },
        { ENOSR, BIDE_FAULT_LOCAL, BIDE_TRANSIENT, false },
        { ECONNRESET, BIDE_FAULT_RESET, BIDE_TRANSIENT, false },
        { ECONNABORTED, BIDE_FAULT_RESET, BIDE_TRANSIENT, false },
        { ENETRESET, BIDE_FAULT_RESET, BIDE_TRANSIENT, false },
        { ENOTCONN, BIDE_FAULT_RESET, BIDE_TRANSIENT, false },
        { EPIPE, BIDE_FAULT_RESET, BIDE_TRANSIENT, false },
        { EINTR, BIDE_FAULT_RESET, BIDE_TRANSIENT, false },
        { ESHUTDOWN, BIDE_FAULT_RESET, BIDE_TRANSIENT, false },
        { ETIMEDOUT, BIDE_FAULT_TIMEOUT, BIDE_TRANSIENT, false },
        { EAGAIN, BIDE_FAULT_TIMEOUT, BIDE_TRANSIENT, false },
        { EWOULDBLOCK, BIDE_FAULT_TIMEOUT, BIDE_TRANSIENT, false },
        { EINPROGRESS, BIDE_FAULT_TIMEOUT, BIDE_TRANSIENT, false },
        { EALREADY, BIDE_FAULT_TIMEOUT, BIDE_TRANSIENT, false },
        { ETIME, BIDE_FAULT_TIMEOUT, BIDE_TRANSIENT, false },
        { EBADMSG, BIDE_FAULT_MALFORMED, BIDE_PERMANENT, false },
        { EPROTO, BIDE_FAULT_MALFORMED, BIDE_PERMANENT, false },
        { ECANCELED, BIDE_FAULT_CANCELLED, BIDE_IGNORED, false },
        { EACCES, BIDE_FAULT_OTHER, BIDE_PERMANENT, false },
        { EPERM, BIDE_FAULT_OTHER, BIDE_PERMANENT, false },
        { ENOENT, BIDE_FAULT_OTHER, BIDE_PERMANENT, false },
        { EINVAL, BIDE_FAULT_OTHER, BIDE_PERMANENT, false },
        { EBADF, BIDE_FAULT_OTHER, BIDE_PERMANENT, false },
        { EAFNOSUPPORT, BIDE_FAULT_OTHER, BIDE_PERMANENT, false },
        { ENOSPC, BIDE_FAULT_OTHER, BIDE_PERMANENT, false },
        { -ECONNREFUSED, BIDE_FAULT_OTHER, BIDE_PERMANENT, false },
        { -1, BIDE_FAULT_OTHER, BIDE_PERMANENT, false },
        { INT_MAX, BIDE_FAULT_OTHER, BIDE_PERMANENT, false },
        { INT_MIN, BIDE_FAULT_OTHER, BIDE_PERMANENT, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int not_sent = 0; not_sent < 2; not_sent++) {
            bide_outcome out = bide_outcome_errno(rows[i].err, not_sent);
            bool unsent = rows[i].unsent || (not_sent && rows[i].err != 0);

            if (out.fault != rows[i].fault || out.cls != rows[i].cls ||
                out.not_processed != unsent)
                fail_msg("errno %d, not_sent %d: %s, %s, not processed %d",
                         rows[i].err, not_sent, bide_fault_name(out.fault),
                         bide_class_name(out.cls), out.not_processed);
            assert_int_equal(out.status, 0);
            assert_false(out.refused);
            assert_false(out.hinted);
            assert_true(out.hint_ns == 0);
        }
}

static void outcome_method_idempotent_is_exact(void **state)
{
    static const char *const yes[] = { "GET",   "HEAD", "OPTIONS",
                                       "TRACE", "PUT",  "DELETE" };
    static const char *const no[] = { "POST", "PATCH", "CONNECT", "get",
                                      "Get",  "GETS",  "GE",      "",
                                      " GET", "PUT ",  "QUERY" };

    (void)state;
    for (size_t i = 0; i < COUNT(yes); i++)
        assert_true(bide_method_idempotent(yes[i]));
    for (size_t i = 0; i < COUNT(no); i++)
        assert_false(bide_method_idempotent(no[i]));
    assert_false(bide_method_idempotent(NULL));
}

static void outcome_class_names_go_both_ways(void **state)
{
    bide_class got = BIDE_IGNORED;

    (void)state;
    for (int i = 0; i < BIDE_N_CLASSES; i++) {
        const char *name = bide_class_name((bide_class)i);

        assert_int_equal(bide_class_by_name(name, &got), 0);
        assert_int_equal(got, i);
    }
    assert_string_equal(bide_class_name(BIDE_TRANSIENT), "transient");
    assert_null(bide_class_name(BIDE_N_CLASSES));
    assert_null(bide_class_name((bide_class)-1));
}

static void outcome_fault_names_go_both_ways(void **state)
{
    bide_fault got = BIDE_FAULT_NONE;

    (void)state;
    for (int i = 0; i < BIDE_N_FAULTS; i++) {
        const char *name = bide_fault_name((bide_fault)i);

        assert_int_equal(bide_fault_by_name(name, &got), 0);
        assert_int_equal(got, i);
    }
    assert_string_equal(bide_fault_name(BIDE_FAULT_NO_HOST), "no_host");
    assert_null(bide_fault_name(BIDE_N_FAULTS));
    assert_null(bide_fault_name((bide_fault)-1));
}

/* The numbers are gRPC's own, so they are written out here again. */
static void outcome_grpc_names_go_both_ways(void **state)
{
    static const char *const names[] = {
        "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED",
        "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
        "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
        "UNAUTHENTICATED",
    };
    int got = -1;

    (void)state;
    assert_int_equal(COUNT(names), BIDE_N_GRPC);
    for (int i = 0; i < BIDE_N_GRPC; i++) {
        assert_string_equal(bide_grpc_name(i), names[i]);
        assert_int_equal(bide_grpc_by_name(names[i], &got), 0);
        assert_int_equal(got, i);
    }
    assert_null(bide_grpc_name(BIDE_N_GRPC));
    assert_null(bide_grpc_name(-1));
    assert_null(bide_grpc_name(INT_MIN));
}

static void outcome_unknown_name_is_refused(void **state)
{
    static const char *const none[] = { "", "Transient", "transien", "NONE",
                                        "transients", "unavailable", "14" };
    bide_class cls = BIDE_THROTTLED;
    bide_fault fault = BIDE_FAULT_TLS;
    int code = 7;

    (void)state;
    for (size_t i = 0; i < COUNT(none); i++) {
        assert_int_equal(bide_class_by_name(none[i], &cls), BIDE_ENAME);
        assert_int_equal(bide_fault_by_name(none[i], &fault), BIDE_ENAME);
        assert_int_equal(bide_grpc_by_name(none[i], &code), BIDE_ENAME);
    }
    assert_int_equal(bide_class_by_name(NULL, &cls), BIDE_EINVAL);
    assert_int_equal(bide_fault_by_name(NULL, &fault), BIDE_EINVAL);
    assert_int_equal(bide_grpc_by_name(NULL, &code), BIDE_EINVAL);
    assert_int_equal(bide_class_by_name("success", NULL), BIDE_EINVAL);
    assert_int_equal(bide_fault_by_name("none", NULL), BIDE_EINVAL);
    assert_int_equal(bide_grpc_by_name("OK", NULL), BIDE_EINVAL);
    assert_int_equal(cls, BIDE_THROTTLED);
    assert_int_equal(fault, BIDE_FAULT_TLS);
    assert_int_equal(code, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outcome_errno_has_fault_and_class),
        cmocka_unit_test(outcome_method_idempotent_is_exact),
        cmocka_unit_test(outcome_class_names_go_both_ways),
        cmocka_unit_test(outcome_fault_names_go_both_ways),
        cmocka_unit_test(outcome_grpc_names_go_both_ways),
        cmocka_unit_test(outcome_unknown_name_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
