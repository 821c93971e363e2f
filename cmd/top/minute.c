/* The last minute of each dependency. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/top/minute.h"
#include "cmd/top/state.h"

static struct top_track *track(struct top_minute *m, const char *name)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->tracks[i].name, name) == 0)
            return &m->tracks[i];
    if ((m->n & (m->n - 1)) == 0) { /* doubled each time it is full */
        size_t room = m->n ? 2 * m->n : 1;
        struct top_track *more = realloc(m->tracks, room * sizeof *more);
        if (!more)
            return NULL;
        m->tracks = more;
    }
    struct top_track *t = &m->tracks[m->n++];
    memset(t, 0, sizeof *t);
    snprintf(t->name, sizeof t->name, "%s", name);
    return t;
}

/* The same second may come twice. */
static void add(struct top_track *t, const struct top_point *p)
{
    if (t && (t->n == 0 || p->at_ms > t->point[(t->n - 1) % TOP_MINUTE].at_ms))
        t->point[t->n++ % TOP_MINUTE] = *p;
}

static double at(const struct bide__node *list, size_t i)
{
    const struct bide__node *n = i < top_items(list) ? list->items[i] : NULL;
    double x = n && n->kind == BIDE__SCALAR ? strtod(n->text, NULL) : 0;
    return isfinite(x) ? x : 0;
}

void top_minute_load(struct top_minute *m, const char *json, size_t len)
{
    struct bide__tree *tree = NULL;
    const struct bide__node *deps;

    if (bide__tree_json(&tree, "history", json, len, NULL) != 0)
        return;
    deps = top_get(tree->root, "deps");
    for (size_t i = 0; deps && deps->kind == BIDE__MAP && i < deps->n; i++) {
        const struct bide__node *list = deps->items[i];
        struct top_track *t = track(m, deps->keys[i]->text);
        for (size_t k = 0; k < top_items(list); k++) {
            const struct bide__node *p = list->items[k];
            double s = at(p, 1) > 0 ? at(p, 1) : 1;
            add(t, &(struct top_point){ at(p, 0), at(p, 2) / s, at(p, 3) / s,
                                        at(p, 4) / s });
        }
    }
    bide__tree_free(tree);
}

void top_minute_add(struct top_minute *m, const struct top_state *s)
{
    for (size_t i = 0; i < s->n_deps; i++) {
        const struct top_dep *d = &s->deps[i];
        if (d->has_second)
            add(track(m, d->name),
                &(struct top_point){ d->at_ms, d->calls, d->failed,
                                     d->retries });
    }
}

const struct top_track *top_minute_find(const struct top_minute *m,
                                        const char *name)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->tracks[i].name, name) == 0)
            return &m->tracks[i];
    return NULL;
}

void top_minute_done(struct top_minute *m)
{
    free(m->tracks);
    *m = (struct top_minute){ 0, NULL };
}
