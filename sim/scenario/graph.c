/* graph.c: checks which service calls which. A cycle would never end, and is an
 * error. Graphs may be deep, so the walk keeps its own stack. */
#include "sim/scenario/check.h"

enum { UNSEEN, ON_THE_WAY, DONE };

/* Threads: owned. */
struct walk {
    struct sim_load *l;
    unsigned char *state; /* of each service */
    uint32_t *way, *edge; /* the services on the path, and the edge in each */
    uint32_t depth;
    bool told; /* a cycle was reported: one is enough */
};

/* The node in `calls` that an edge comes from, for its position. */
static const struct bide__node *place_of(struct sim_load *l, uint32_t service,
                                         uint32_t edge)
{
    const struct bide__node *map = l->services->items[service];
    const struct bide__node *calls = bide__map_get(map, "calls", NULL);

    if (calls && calls->kind == BIDE__LIST && edge < calls->n)
        calls = calls->items[edge];
    if (calls && calls->kind == BIDE__MAP) {
        const struct bide__node *s = bide__map_get(calls, "service", NULL);
        return s ? s : calls;
    }
    return calls;
}

static void tell_circle(struct walk *w, uint32_t again)
{
    enum { SHOWN = 8 };
    const struct sim_model *m = w->l->model;
    const char *path =
        bide__diag_text(w->l->base.notes, "`%s`", m->services[again].name);
    uint32_t from = 0, last = w->depth - 1, shown = 0;

    while (w->way[from] != again)
        from++;
    for (uint32_t i = from + 1; i < w->depth && path && shown < SHOWN; i++)
        path = ++shown == SHOWN
                   ? bide__diag_text(w->l->base.notes, "%s, ...", path)
                   : bide__diag_text(w->l->base.notes, "%s, `%s`", path,
                                     m->services[w->way[i]].name);
    sim_mistake(w->l, place_of(w->l, w->way[last], w->edge[last] - 1),
                "call-loop", "no request would ever end: take out one call",
                "services call each other in a circle: %s, `%s`",
                path ? path : "", m->services[again].name);
    w->told = true;
}

static void visit(struct walk *w, uint32_t service)
{
    w->state[service] = ON_THE_WAY;
    w->way[w->depth] = service;
    w->edge[w->depth++] = 0;
}

static void walk_from(struct walk *w, uint32_t first)
{
    const struct sim_model *m = w->l->model;

    visit(w, first);
    while (w->depth > 0 && !w->told) {
        uint32_t at = w->way[w->depth - 1];
        uint32_t next, i = w->edge[w->depth - 1]++;

        if (i >= m->services[at].n_edges) {
            w->state[at] = DONE;
            w->depth--;
            continue;
        }
        next = m->services[at].edges[i].service;
        if (next >= m->n_services || w->state[next] == DONE)
            continue;
        if (w->state[next] == ON_THE_WAY)
            tell_circle(w, next);
        else
            visit(w, next);
    }
}

void sim_check_graph(struct sim_load *l)
{
    uint32_t n = l->model->n_services;
    struct walk w = { .l = l };

    w.state = sim_load_alloc(l, n, sizeof *w.state);
    w.way = sim_load_alloc(l, n, sizeof *w.way);
    w.edge = sim_load_alloc(l, n, sizeof *w.edge);
    if (!w.state || !w.way || !w.edge)
        return;
    for (uint32_t i = 0; i < n && !w.told; i++)
        if (w.state[i] == UNSEEN)
            walk_from(&w, i);
}
