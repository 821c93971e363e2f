/* What the first messages of a redrive came to. */
#include <stdlib.h>
#include <string.h>

#include "cmd/worker/redrive.h"

void redrive_ids_add(struct redrive_ids *ids, const char *id)
{
    if (ids->n == ids->room) {
        size_t room = ids->room ? 2 * ids->room : 64;
        char **more = realloc(ids->list, room * sizeof *more);
        if (!more) {
            ids->failed = true;
            return;
        }
        ids->list = more;
        ids->room = room;
    }
    if (!(ids->list[ids->n] = strdup(id)))
        ids->failed = true;
    else
        ids->n++;
}

void redrive_ids_done(struct redrive_ids *ids)
{
    for (size_t i = 0; i < ids->n; i++)
        free(ids->list[i]);
    free(ids->list);
}

struct seen {
    const char *id;
    bool there, failed;
};

static bool look(void *arg, const struct broker_row *row)
{
    struct seen *s = arg;

    if (strcmp(row->message->id, s->id) != 0)
        return true;
    s->there = true;
    s->failed = row->state == BROKER_IS_DEAD || row->message->attempt > 0;
    return false;
}

int redrive_results(struct broker *b, const struct redrive_ids *ids, size_t n,
                    struct redrive_results *ret)
{
    *ret = (struct redrive_results){ 0, 0, 0 };
    for (size_t i = 0; i < n; i++) {
        struct seen s = { .id = ids->list[i] };
        struct broker_filter f = { .id = s.id };
        int status = b->kind->each(b, &f, look, &s);
        f.dead = true;
        if (status == 0 && !s.there)
            status = b->kind->each(b, &f, look, &s);
        if (status != 0)
            return status;
        ret->good += !s.there;
        ret->bad += s.there && s.failed;
        ret->open += s.there && !s.failed;
    }
    return 0;
}
