/* The four origins, in one thread, following one timetable. */
#include "cmd/demo/servers.h"

#include <stddef.h>

#include "base/list.h"
#include "cmd/demo/demo.h"
#include "cmd/demo/desk.h"

enum { LOOK_MS = 50 };

static void turn(struct demo_servers *s)
{
    int64_t at = s->loop.now_ns - s->demo->start_ns;
    enum demo_phase phase = demo_phase_at(&s->demo->plan, at);

    for (unsigned i = 0; i < DEMO_FLEETS; i++) {
        struct demo_origin *o = &s->origins[i];
        enum demo_phase before = o->desk.phase;
        o->desk.phase = phase;
        if (phase == DEMO_ERRORS && before != phase)
            demo_origin_crash(o);
        demo_desk_open(&o->desk);
    }
}

/* Runs at each change of the timetable, and often enough to notice the end. */
static void on_turn(struct net_timer *timer)
{
    struct demo_servers *s =
        bide__container_of(timer, struct demo_servers, turn);
    int64_t start = s->demo->start_ns, now = s->loop.now_ns;
    int64_t at = start + demo_next_phase(&s->demo->plan, now - start);
    int64_t soon = now + LOOK_MS * BIDE_MILLISECOND;

    turn(s);
    net_timer_set(&s->loop, timer, at < soon ? at : soon);
}

bool demo_servers_init(struct demo_servers *s, struct demo *demo)
{
    if (net_loop_init(&s->loop) < 0)
        return false;
    s->demo = demo; /* from now on there is something to free */
    for (unsigned i = 0; i < DEMO_FLEETS; i++) {
        struct demo_origin *o = &s->origins[i];
        o->fleet = &demo->fleets[i];
        o->server.fd = -1;
        if (!demo_desk_init(&o->desk, &s->loop, demo->plan.queue, 1) ||
            !demo_origin_listen(o))
            return false;
    }
    s->turn.fire = on_turn;
    net_timer_set(&s->loop, &s->turn, s->loop.now_ns);
    return true;
}

void demo_servers_run(struct demo_servers *s)
{
    while (!atomic_load(&s->demo->stop))
        net_loop_step(&s->loop);
}

void demo_servers_done(struct demo_servers *s)
{
    for (unsigned i = 0; i < DEMO_FLEETS; i++) {
        struct demo_origin *o = &s->origins[i];
        demo_origin_crash(o);
        if (o->fleet)
            http_server_close(&o->server);
        demo_desk_done(&o->desk);
    }
    net_loop_done(&s->loop);
}
