/* Which queues there are beside the one that is not, in one line. */
#include "queue/missing.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"

enum { MOST_NAMES = 64 };

struct others {
    char *list[MOST_NAMES + 1]; /* ends with NULL */
    int n;
    const char *wanted;
};

static void add_name(void *arg, const char *name)
{
    struct others *o = arg;

    if (o->n < MOST_NAMES && strcmp(name, o->wanted) != 0 &&
        (o->list[o->n] = strdup(name)))
        o->n++;
}

/* What can be said about the others; their number, or -1: it is not known. */
static int suggest(struct broker *b, queue_names *names, struct bide__out *out)
{
    struct others others = { .wanted = b->queue };
    int status = names(b, add_name, &others);

    if (status == 0 && others.n > 0)
        bide__suggest(out, b->queue, (const char *const *)others.list);
    for (int i = 0; i < others.n; i++)
        free(others.list[i]);
    return status == 0 ? others.n : -1;
}

int queue_missing(struct broker *b, queue_names *names, const char *format, ...)
{
    struct bide__out out = { 0 };
    char what[BROKER_ERROR];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (suggest(b, names, &out) == 0)
        bide__out_text(&out, "nothing was ever queued there");
    int status = broker_fail(b, BROKER_REFUSED, "%.400s%s%.*s", what,
                             out.len ? "; " : "", (int)out.len,
                             out.data ? out.data : "");
    bide__out_done(&out);
    return status;
}

bool queue_close(struct broker *b, queue_names *names, struct bide__out *out)
{
    static const char sure[] = "did you mean";
    size_t before = out->len;

    suggest(b, names, out);
    return !out->failed && out->len - before >= sizeof sure - 1 &&
           memcmp(out->data + before, sure, sizeof sure - 1) == 0;
}
