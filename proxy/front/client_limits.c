/* The limits of a client address: `limits.per_client`.
 *
 * Trusted clients are not limited: a load balancer in front is one address for
 * all the clients behind it. Nor are clients of a Unix socket, which have no
 * address. */
#include "config/proxy/conf.h"
#include "net/conn.h"
#include "proxy/exchange/own_answer.h"
#include "proxy/front/client.h"
#include "proxy/front/client_limits.h"
#include "proxy/front/per_client.h"
#include "proxy/front/turn_away.h"
#include "proxy/generation.h"
#include "proxy/proxy.h"
#include "proxy/worker.h"

static bool is_limited(const struct client *c)
{
    return c->worker->limits_clients && !c->trusted && c->address_len != 0;
}

void client_leave(struct client *c)
{
    if (c->place)
        per_client_leave(c->worker->proxy->per_client, c->place);
    c->place = 0;
}

/* Counts it, if it may have one more. */
static bool enter(struct client *c, uint32_t most)
{
    struct worker *w = c->worker;
    enum per_client_result result =
        per_client_enter(w->proxy->per_client, c->address, c->address_len, most,
                         w->loop.now_ns, &c->place);
    if (result == PER_CLIENT_FULL)
        count(&w->counters.client_untracked);
    return result != PER_CLIENT_OVER;
}

bool client_admit(struct client *c)
{
    struct worker *w = c->worker;
    const struct bide__proxy_per_client *most = &w->conf->limits.per_client;
    if (!is_limited(c))
        return true;
    if (!enter(c, most->connections)) {
        count(&w->counters.client_connections);
        turn_away(w, c->conn.io.fd, "client_connections",
                  "too many connections from this address");
        return false;
    }
    if (!w->generation->tls || !(most->handshakes_per_s > 0) || !c->place ||
        per_client_ask(w->proxy->per_client, c->place, PER_CLIENT_HANDSHAKES,
                       most->handshakes_per_s, w->loop.now_ns) == 0)
        return true;
    count(&w->counters.client_handshakes);
    return false;
}

/* Whether its address may have one more. */
static bool has_place(const struct client *c)
{
    struct worker *w = c->worker;
    uint32_t most = w->conf->limits.per_client.connections, place = 0;
    if (!is_limited(c))
        return true;
    enum per_client_result result =
        per_client_enter(w->proxy->per_client, c->address, c->address_len, most,
                         w->loop.now_ns, &place);
    per_client_leave(w->proxy->per_client, place);
    return result != PER_CLIENT_OVER;
}

bool client_may_leave(const struct client *c)
{
    const struct worker *w = c->worker;
    return w->n_clients < w->max_clients && has_place(c);
}

/* What is open stays open, and is now counted, or no longer. */
void client_follow(struct client *c)
{
    if (!is_limited(c))
        client_leave(c);
    else if (!c->place)
        enter(c, UINT32_MAX);
}

bool client_may_ask(struct client *c)
{
    struct worker *w = c->worker;
    double rate = w->conf->limits.per_client.requests_per_s;
    if (!c->place || !(rate > 0))
        return true;
    int64_t wait_ns = per_client_ask(w->proxy->per_client, c->place,
                                     PER_CLIENT_REQUESTS, rate, w->loop.now_ns);
    if (wait_ns == 0)
        return true;
    count(&w->counters.client_rate);
    own_answer(c->ex, &(struct own_answer){
                          .status = 429,
                          .problem = "client_rate",
                          .title = "Too Many Requests",
                          .detail = "too many requests from this address",
                          .refusal = true,
                          .retry_ns = wait_ns });
    return false;
}
