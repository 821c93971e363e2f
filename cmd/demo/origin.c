/* One origin: a real server, on a port that anyone on this machine can reach
 * for half a minute. */
#include <unistd.h>

#include "cmd/demo/demo.h"
#include "cmd/demo/desk.h"
#include "cmd/demo/servers.h"
#include "cmd/demo/tally.h"
#include "net/address.h"
#include "net/http/server_answer.h"

enum { SPARE_CONNECTIONS = 128 };

void demo_answer(struct http_conn *c, int status)
{
    bool good = status == 200;

    http_answer_begin(c, status);
    http_answer_end(c, "ok\n", good ? 3 : 0);
}

static void on_request(struct http_conn *c)
{
    struct demo_origin *o = c->server->user;

    demo_tally_add(&o->fleet->tally, DEMO_ARRIVED, o->desk.loop->now_ns);
    demo_desk_take(&o->desk, c);
}

/* The demo's clients never send such requests. */
static void on_refused(struct http_conn *c, int status, const char *why)
{
    (void)status;
    (void)why;
    demo_answer(c, 400);
}

bool demo_origin_listen(struct demo_origin *o)
{
    struct net_address *a = &o->fleet->origin;

    o->server = (struct http_server)HTTP_SERVER_INIT;
    o->server.user = o;
    o->server.request = on_request;
    o->server.refuse = on_refused;
    o->server.connections = o->fleet->demo->plan.clients + SPARE_CONNECTIONS;
    o->server.waiting = o->server.connections;
    o->server.max_head = 2048;
    o->server.max_body = 0;
    net_address_parse(a, "127.0.0.1", 0);
    int fd = net_listen(a, 0);
    if (fd < 0)
        return false;
    if (getsockname(fd, &a->to.any, &a->len) == 0 &&
        http_server_listen(&o->server, o->desk.loop, fd) == 0)
        return true;
    close(fd);
    return false;
}

void demo_origin_crash(struct demo_origin *o)
{
    demo_desk_clear(&o->desk);
    http_server_drop_all(&o->server, true);
}
