/* outcome.c: the names of outcomes, and their mapping from errno.
 *
 * Names come from the X-macros of the header, so that no list can fall behind
 * another. classify.c classifies HTTP and gRPC responses. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "bide/error.h"

#include "lib/response/outcome.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const class_names[] = {
#define X(name, key, meaning) [name] = key,
    BIDE_CLASSES(X)
#undef X
};

static const char *const fault_names[] = {
#define X(name, key, cls) [name] = key,
    BIDE_FAULTS(X)
#undef X
};

static const char *const grpc_names[] = {
#define X(name, value, key) [name] = key,
    BIDE_GRPC_CODES(X)
#undef X
};

static const bide_class fault_classes[] = {
#define X(name, key, cls) [name] = cls,
    BIDE_FAULTS(X)
#undef X
};

/* The index of a name in a table, or -1. */
static int find(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -1;
}

const char *bide_class_name(bide_class cls)
{
    return (size_t)cls < COUNT(class_names) ? class_names[cls] : NULL;
}

const char *bide_fault_name(bide_fault fault)
{
    return (size_t)fault < COUNT(fault_names) ? fault_names[fault] : NULL;
}

const char *bide_grpc_name(int code)
{
    return (size_t)code < COUNT(grpc_names) ? grpc_names[code] : NULL;
}

int bide_class_by_name(const char *name, bide_class *ret_cls)
{
    int i;

    if (!name || !ret_cls)
        return BIDE_EINVAL;
    i = find(class_names, COUNT(class_names), name);
    if (i < 0)
        return BIDE_ENAME;
    *ret_cls = (bide_class)i;
    return 0;
}

int bide_fault_by_name(const char *name, bide_fault *ret_fault)
{
    int i;

    if (!name || !ret_fault)
        return BIDE_EINVAL;
    i = find(fault_names, COUNT(fault_names), name);
    if (i < 0)
        return BIDE_ENAME;
    *ret_fault = (bide_fault)i;
    return 0;
}

int bide_grpc_by_name(const char *name, int *ret_code)
{
    int i;

    if (!name || !ret_code)
        return BIDE_EINVAL;
    i = find(grpc_names, COUNT(grpc_names), name);
    if (i < 0)
        return BIDE_ENAME;
    *ret_code = i;
    return 0;
}

bool bide_method_idempotent(const char *method)
{
    static const char *const methods[] = { "GET",   "HEAD", "OPTIONS",
                                           "TRACE", "PUT",  "DELETE" };

    return method && find(methods, COUNT(methods), method) >= 0;
}

bide_class bide__fault_class(bide_fault fault)
{
    return (size_t)fault < COUNT(fault_classes) ? fault_classes[fault]
                                                : BIDE_PERMANENT;
}

bool bide__fault_unsent(bide_fault fault)
{
    switch (fault) {
    case BIDE_FAULT_DNS:
    case BIDE_FAULT_NO_HOST:
    case BIDE_FAULT_CONNECT:
    case BIDE_FAULT_TLS:
    case BIDE_FAULT_URL:
    case BIDE_FAULT_LOCAL:
    case BIDE_FAULT_CONNECTION_WAIT:
    case BIDE_FAULT_REFUSED_STREAM:
        return true;
    default:
        return false;
    }
}

/* What an errno means, and whether it can occur only before anything was sent.
 * Few can: a connected socket reports EHOSTUNREACH too, when its
 * retransmissions no longer find a route, and ENOMEM may come from a read.
 * POSIX and Windows have all those without an #ifdef. */
static const struct meaning {
    int err;
    bide_fault fault;
    bool unsent;
} meanings[] = {
    { ECONNREFUSED, BIDE_FAULT_CONNECT, true },
    { EHOSTUNREACH, BIDE_FAULT_CONNECT, false },
    { ENETUNREACH, BIDE_FAULT_CONNECT, false },
    { ENETDOWN, BIDE_FAULT_CONNECT, false },
#ifdef EHOSTDOWN
    { EHOSTDOWN, BIDE_FAULT_CONNECT, false },
#endif
#ifdef ENONET
    { ENONET, BIDE_FAULT_CONNECT, false },
#endif
    { EADDRNOTAVAIL, BIDE_FAULT_LOCAL, true }, /* out of ports */
    { EADDRINUSE, BIDE_FAULT_LOCAL, true },
    { EMFILE, BIDE_FAULT_LOCAL, true },
    { ENFILE, BIDE_FAULT_LOCAL, true },
    { ENOMEM, BIDE_FAULT_LOCAL, false },
    { ENOBUFS, BIDE_FAULT_LOCAL, false },
    { EBUSY, BIDE_FAULT_LOCAL, false },
    { ENOLCK, BIDE_FAULT_LOCAL, false },
    { EDEADLK, BIDE_FAULT_LOCAL, false },
#ifdef ETXTBSY
    { ETXTBSY, BIDE_FAULT_LOCAL, false },
#endif
#ifdef ENOSR
    { ENOSR, BIDE_FAULT_LOCAL, false },
#endif
    { ECONNRESET, BIDE_FAULT_RESET, false },
    { ECONNABORTED, BIDE_FAULT_RESET, false },
    { ENETRESET, BIDE_FAULT_RESET, false },
    { ENOTCONN, BIDE_FAULT_RESET, false },
    { EPIPE, BIDE_FAULT_RESET, false },
    { EINTR, BIDE_FAULT_RESET, false },
#ifdef ESHUTDOWN
    { ESHUTDOWN, BIDE_FAULT_RESET, false },
#endif
    { ETIMEDOUT, BIDE_FAULT_TIMEOUT, false },
    { EAGAIN, BIDE_FAULT_TIMEOUT, false }, /* SO_RCVTIMEO expired */
    { EWOULDBLOCK, BIDE_FAULT_TIMEOUT, false },
    { EINPROGRESS, BIDE_FAULT_TIMEOUT, false }, /* a connect's timeout, too */
    { EALREADY, BIDE_FAULT_TIMEOUT, false },
#ifdef ETIME
    { ETIME, BIDE_FAULT_TIMEOUT, false },
#endif
    { EBADMSG, BIDE_FAULT_MALFORMED, false },
    { EPROTO, BIDE_FAULT_MALFORMED, false },
    { ECANCELED, BIDE_FAULT_CANCELLED, false },
};

bide_outcome bide_outcome_errno(int err, bool not_sent)
{
    struct meaning m = { err, BIDE_FAULT_OTHER, false };
    bide_outcome out = BIDE_OUTCOME_SUCCESS;

    if (err == 0)
        return out;
    for (size_t i = 0; i < COUNT(meanings); i++)
        if (meanings[i].err == err)
            m = meanings[i];
    out.cls = bide__fault_class(m.fault);
    out.fault = m.fault;
    out.not_processed = not_sent || m.unsent;
    return out;
}

bool bide_outcome_unreached(const bide_outcome *outcome)
{
    bool transport = outcome->fault == BIDE_FAULT_DNS ||
                     outcome->fault == BIDE_FAULT_CONNECT ||
                     outcome->fault == BIDE_FAULT_RESET ||
                     outcome->fault == BIDE_FAULT_TIMEOUT;
    return transport && outcome->not_processed && outcome->status == 0 &&
           outcome->cls == BIDE_TRANSIENT;
}
