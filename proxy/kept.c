/* The table of what outlives a serving process. */
#include "proxy/kept.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/line.h"

struct kept_entry *kept_find(const struct kept *k, const char *name)
{
    for (size_t i = 0; i < k->n; i++)
        if (strcmp(k->list[i].name, name) == 0)
            return &k->list[i];
    return NULL;
}

int kept_put(struct kept *k, const char *name, int fd, unsigned owner)
{
    char *copy = strdup(name);
    struct kept_entry *more =
        realloc(k->list, (k->n + 1) * sizeof k->list[0]);
    if (more)
        k->list = more;
    kept_remove(k, name);
    if (!copy || !more) {
        free(copy);
        close(fd);
        return -1;
    }
    k->list[k->n++] =
        (struct kept_entry){ .name = copy, .fd = fd, .owner = owner };
    return 0;
}

/* The last entry replaces the one that is removed. */
static void forget(struct kept *k, struct kept_entry *e)
{
    free(e->name);
    *e = k->list[--k->n];
}

int kept_take(struct kept *k, const char *name)
{
    struct kept_entry *e = kept_find(k, name);
    int fd = e ? e->fd : -1;
    if (e)
        forget(k, e);
    return fd;
}

void kept_remove(struct kept *k, const char *name)
{
    int fd = kept_take(k, name);
    if (fd >= 0)
        close(fd);
}

void kept_settle(struct kept *k, unsigned owner)
{
    for (size_t i = 0; i < k->n; i++)
        if (k->list[i].owner == owner)
            k->list[i].owner = KEPT_SETTLED;
}

void kept_remove_owned(struct kept *k, unsigned owner)
{
    for (size_t i = k->n; i-- > 0;)
        if (k->list[i].owner == owner)
            kept_remove(k, k->list[i].name);
}

void kept_clear(struct kept *k)
{
    while (k->n > 0) {
        close(k->list[k->n - 1].fd);
        forget(k, &k->list[k->n - 1]);
    }
    free(k->list);
    k->list = NULL;
}

void kept_hold(const struct kept *k, const char *name, int fd)
{
    if (k->line >= 0)
        (void)line_send(k->line, "hold", name, fd);
}

void kept_drop(const struct kept *k, const char *name)
{
    if (k->line >= 0)
        (void)line_send(k->line, "drop", name, -1);
}

void kept_drop_rest(struct kept *k)
{
    for (size_t i = 0; i < k->n; i++)
        kept_drop(k, k->list[i].name);
    kept_clear(k);
}
