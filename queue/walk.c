/* What a filter lets through, and ids that are not written out. */
#include "queue/walk.h"

#include <string.h>

static bool is_named(const struct queue_walk *w, const char *id)
{
    const char *wanted = w->filter->id;

    return !wanted || !*wanted || strcmp(id, wanted) == 0 ||
           (w->begins && strncmp(id, wanted, strlen(wanted)) == 0);
}

static bool is_wanted(const struct queue_walk *w, const struct broker_row *row)
{
    const struct broker_filter *f = w->filter;
    int64_t when = f->dead ? row->died_ms : row->message->queued_ms;

    if (!is_named(w, row->message->id) ||
        (f->dead && f->reason && strcmp(row->reason, f->reason) != 0))
        return false;
    return when >= f->since_ms && (!f->until_ms || when < f->until_ms);
}

bool queue_walk_tell(struct queue_walk *w, const struct broker_row *row)
{
    if (w->enough || !is_wanted(w, row))
        return !w->enough;
    w->told++;
    w->enough = !w->fn(w->arg, row) ||
                (w->filter->most && w->told >= w->filter->most);
    return !w->enough;
}

int queue_walk(const struct broker_filter *filter, broker_each *fn, void *arg,
               int (*all)(void *self, struct queue_walk *w), void *self)
{
    struct queue_walk w = { .filter = filter, .fn = fn, .arg = arg };
    int status = all(self, &w);

    if (status != 0 || w.told > 0 || !filter->id || !*filter->id)
        return status;
    w.begins = true;
    return all(self, &w);
}
