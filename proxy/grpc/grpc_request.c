/* A gRPC request: its timeout, and what endpoints are told of it. */
#include <string.h>

#include "bide/bide.h"
#include "config/proxy/conf.h"
#include "net/buf.h"
#include "net/http1/head.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/own_answer.h"
#include "proxy/exchange/text.h"
#include "proxy/grpc/grpc.h"
#include "proxy/worker.h"

#define BIT(id) (UINT64_C(1) << HTTP1_ID_##id)

/* ===== how long it may take ===== */

static const struct unit {
    char name;
    int64_t ns;
} units[] = {
    { 'n', 1 },
    { 'u', 1000 },
    { 'm', BIDE_MILLISECOND },
    { 'S', BIDE_SECOND },
    { 'M', BIDE_MINUTE },
    { 'H', BIDE_HOUR },
};

enum { N_UNITS = sizeof units / sizeof units[0], MOST = 99999999 };

/* At most eight digits and a unit; -1: it is something else. */
static int64_t read_timeout(const char *text, size_t len)
{
    int64_t n = 0;
    if (len < 2 || len > 9)
        return -1;
    for (size_t i = 0; i + 1 < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        n = n * 10 + (text[i] - '0');
    }
    for (int i = 0; i < N_UNITS; i++)
        if (units[i].name == text[len - 1])
            return n > BIDE_FOREVER / units[i].ns ? BIDE_FOREVER
                                                  : n * units[i].ns;
    return -1;
}

/* From now on, which is when the request's head arrived. */
bool grpc_begin(struct exchange *ex)
{
    const struct http1_field *f = http1_find(&ex->req, HTTP1_ID_GRPC_TIMEOUT);
    if (!f)
        return true;
    int64_t ns = read_timeout(exchange_bytes(ex) + f->value, f->value_len);
    if (ns < 0) {
        own_answer_with(ex, 400, "grpc_timeout", "Bad Request",
                        "grpc-timeout is not up to eight digits and a unit, "
                        "one of H, M, S, m, u and n");
        return false;
    }
    int64_t until = net_after(ex->worker->loop.now_ns, ns);
    if (ex->op.deadline_ns == 0 || until < ex->op.deadline_ns)
        ex->op.deadline_ns = until;
    return true;
}

/* ===== what endpoints are told ===== */

uint64_t grpc_dropped(void)
{
    return BIT(GRPC_TIMEOUT) | BIT(GRPC_PREVIOUS_RPC_ATTEMPTS);
}

/* In the finest unit that has room for it, rounded up: the endpoint should give up
 * after us. */
static void put_timeout(struct text *t, int64_t ns)
{
    int i = 0;
    while (i < N_UNITS - 1 && (ns - 1) / units[i].ns + 1 > MOST)
        i++;
    int64_t n = ns <= 0 ? 1 : (ns - 1) / units[i].ns + 1;
    TEXT_LITERAL(t, "Grpc-Timeout: ");
    text_number(t, (uint64_t)(n > MOST ? MOST : n));
    text_put(t, &units[i].name, 1);
    TEXT_LITERAL(t, "\r\n");
}

/* Attempts before this one: the client's own, and ours. */
static uint64_t attempts_before(const struct attempt *a)
{
    const struct exchange *ex = a->ex;
    const struct http1_field *f =
        http1_find(&ex->req, HTTP1_ID_GRPC_PREVIOUS_RPC_ATTEMPTS);
    uint64_t n = 0;
    for (unsigned i = 0; f && i < f->value_len && i < 9; i++) {
        char c = exchange_bytes(ex)[f->value + i];
        if (c < '0' || c > '9')
            return a->nth - 1;
        n = n * 10 + (uint64_t)(c - '0');
    }
    return n + a->nth - 1;
}

/* The timeout that the client set, not that of the policy: whether the call streams
 * for an hour is not known here, and an attempt that is given up is reset. */
void grpc_put(struct text *t, const struct attempt *a)
{
    const struct exchange *ex = a->ex;
    uint64_t before = attempts_before(a);
    if (http1_find(&ex->req, HTTP1_ID_GRPC_TIMEOUT))
        put_timeout(t, ex->op.deadline_ns - ex->worker->loop.now_ns);
    if (before == 0)
        return;
    TEXT_LITERAL(t, "Grpc-Previous-Rpc-Attempts: ");
    text_number(t, before);
    TEXT_LITERAL(t, "\r\n");
}
