/* Fault injection: attempts that are delayed, or get a response instead of the
 * endpoint's, to show what a policy does before a real outage.
 *
 * For the policy it is a failure like any other: it is retried, costs budget,
 * counts for the breaker and in the statistics, and a POST that "failed" is not
 * sent again. No endpoint is to blame for it, so none is ejected: one is chosen
 * only when the delay is over, and none if the attempt ends before.
 *
 * A route has faults only if its configuration says so, and then only on
 * request (from trusted clients, with X-Bide-Fault: on) or while the admin
 * endpoint has turned them on for its dependency. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "config/proxy/conf.h"
#include "proxy/back/service.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/attempt_io.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/route.h"
#include "proxy/exchange/text.h"
#include "proxy/front/client.h"
#include "proxy/generation.h"
#include "proxy/worker.h"

bool fault_asked(const struct exchange *ex)
{
    const struct http1_field *f = http1_find(&ex->req, HTTP1_ID_X_BIDE_FAULT);
    return f && ex->client->trusted && f->value_len == 2 &&
           memcmp(exchange_bytes(ex) + f->value, "on", 2) == 0;
}

static bool is_drawn(struct worker *w, double share)
{
    return (double)(worker_random(w) >> 11) < share * 9007199254740992.0;
}

/* Never at once: the code that starts an attempt does not expect its end. */
bool fault_begin(struct attempt *a)
{
    struct exchange *ex = a->ex;
    const struct bide__proxy_fault *fault = &ex->route->conf->fault;
    int64_t delay = fault->delay_ns;
    if (!ex->faults &&
        !atomic_load_explicit(&ex->route->service->counted->faults,
                              memory_order_relaxed))
        return false;
    if (!is_drawn(ex->worker, fault->share))
        return false;
    count(&ex->worker->counters.faults_injected);
    ex->injected = a->injected = true;
    attempt_move(a, ATTEMPT_HELD_UP);
    if (delay > a->timeout_ns)
        delay = a->timeout_ns;
    attempt_until(a, net_after(a->begin_ns, delay));
    return true;
}

static void answer(struct attempt *a, unsigned status)
{
    char text[160];
    int n = snprintf(
        text, sizeof text,
        "HTTP/1.1 %u Injected\r\nContent-Length: 0\r\n%s\r\n", status,
        a->ex->generation->conf->headers.bide ? "X-Bide-Fault: abort\r\n" : "");
    attempt_answer(a, text, (size_t)n);
}

void fault_over(struct attempt *a)
{
    const struct bide__proxy_fault *fault = &a->ex->route->conf->fault;
    int64_t end = net_after(a->begin_ns, a->timeout_ns);
    if (a->ex->worker->loop.now_ns >= end) {
        attempt_fail(a, BIDE_FAULT_TIMEOUT);
    } else if (fault->abort != 0) {
        answer(a, fault->abort);
    } else {
        a->injected = false; /* from here on it is an ordinary attempt */
        attempt_move(a, ATTEMPT_NEW);
        attempt_go(a);
    }
}
