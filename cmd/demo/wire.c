/* One attempt of a client: connects if there is no connection, sends the
 * request and reads the response. It reports what the transport saw; the engine
 * decides what that means. */
#include <stddef.h>
#include <stdio.h>

#include "base/list.h"
#include "cmd/demo/clients.h"
#include "cmd/demo/demo.h"
#include "cmd/demo/plan.h"
#include "net/http/client_loop.h"

static void done(struct http_client *http)
{
    struct demo_client *c = bide__container_of(http, struct demo_client, http);
    bide_response r = { .method = "GET",
                        .fault = http->fault,
                        .not_sent = !http->sent };

    if (r.fault == BIDE_FAULT_NONE)
        r.status = http->head.status;
    demo_attempt_ended(c, &r);
}

void demo_wire_init(struct demo_client *c)
{
    http_client_init(&c->http, c->in, sizeof c->in);
    c->http.done = done;
}

bool demo_wire_send(struct demo_client *c, int64_t until_ns)
{
    char target[80], host[32], headers[48];
    struct http_request r = { .to = &c->fleet->origin,
                              .method = "GET",
                              .target = target,
                              .host = host,
                              .headers = headers,
                              .keep = true,
                              .until_ns = until_ns,
                              .max_body = sizeof c->in };

    snprintf(target, sizeof target, "/%s", demo_fleet_name(c->fleet->number));
    snprintf(host, sizeof host, "127.0.0.1:%u",
             ntohs(c->fleet->origin.to.in.sin_port));
    snprintf(headers, sizeof headers, "X-Bide-Attempt: %u\r\n", c->attempt);
    return http_client_start(&c->http, &c->all->loop, &r);
}
