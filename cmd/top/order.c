/* Which dependencies are shown, and in which order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/top/order.h"

const char *top_order_title(enum top_order order)
{
    static const char *const titles[] = {
#define X(name, title) title,
        TOP_ORDERS(X)
#undef X
    };
    return titles[order];
}

/* ===== the order ===== */

/* In steps, so that rows do not change places each second. */
static double hurt(const struct top_dep *d)
{
    double n =
        d->has_second && d->mood >= TOP_WARN ? d->failed * 10 + d->retries : 0;
    return floor(log2(1 + n));
}

static int by_name(const void *a, const void *b)
{
    return strcasecmp(((const struct top_dep *)a)->name,
                      ((const struct top_dep *)b)->name);
}

/* The greater number first. */
static int greater(double x, double y, const void *a, const void *b)
{
    x = isnan(x) ? -1 : x;
    y = isnan(y) ? -1 : y;
    return x > y ? -1 : x < y ? 1 : by_name(a, b);
}

static int by_trouble(const void *a, const void *b)
{
    const struct top_dep *x = a, *y = b;
    if (x->mood != y->mood)
        return x->mood > y->mood ? -1 : 1;
    return greater(hurt(x), hurt(y), a, b);
}

#define BY(field)                                                              \
    static int by_##field(const void *a, const void *b)                        \
    {                                                                          \
        return greater(((const struct top_dep *)a)->field,                     \
                       ((const struct top_dep *)b)->field, a, b);              \
    }

BY(calls)
BY(failed)
BY(retries)
BY(p99_ms)

/* ===== the filter ===== */

/* Whether the name has each word of the filter, in any case. */
static bool has_all(const char *name, const char *filter)
{
    char word[64];
    int used;

    while (sscanf(filter, " %63s%n", word, &used) == 1) {
        filter += used;
        if (!strcasestr(name, word))
            return false;
    }
    return true;
}

static void swap(struct top_dep *a, struct top_dep *b)
{
    struct top_dep t = *a;
    *a = *b;
    *b = t;
}

size_t top_order(struct top_state *s, enum top_order by, const char *filter)
{
    static int (*const compare[])(const void *, const void *) = {
        by_trouble, by_name, by_calls, by_failed, by_retries, by_p99_ms
    };
    size_t n = 0;

    for (size_t i = 0; i < s->n_deps; i++)
        if (has_all(s->deps[i].name, filter))
            swap(&s->deps[i], &s->deps[n++]);
    if (n)
        qsort(s->deps, n, sizeof s->deps[0], compare[by]);
    return n;
}

/* ===== names that begin alike ===== */

/* How many names begin with the first `len` bytes of this one, and go on. */
static size_t alike(const struct top_state *s, const char *name, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_deps; i++)
        n += strncmp(s->deps[i].name, name, len) == 0 &&
             s->deps[i].name[len] != '\0';
    return n;
}

/* Where the next word ends, after its separator; 0: nothing follows it. */
static size_t word_end(const char *name, size_t from)
{
    size_t len = from + strcspn(name + from, "-_./:");
    return name[len] && name[len + 1] ? len + 1 : 0;
}

/* The name with which most of those that begin with `prefix` agree on the next
 * word, if most do: what a majority has outlasts all that others cancel. */
static const char *most_common(const struct top_state *s, const char *prefix,
                               size_t len, size_t *ret_end)
{
    const char *name = NULL;
    size_t votes = 0;

    for (size_t i = 0; i < s->n_deps; i++) {
        const char *other = s->deps[i].name;
        size_t end =
            strncmp(other, prefix, len) == 0 ? word_end(other, len) : 0;
        if (end == 0)
            continue;
        if (votes == 0) {
            name = other;
            *ret_end = end;
        }
        if (end == *ret_end && strncmp(name, other, end) == 0)
            votes++;
        else
            votes--;
    }
    return name;
}

void top_shared(const struct top_state *s, char to[TOP_NAME])
{
    size_t len = 0, end = 0;
    const char *name;

    to[0] = '\0';
    while (s->n_deps > 2 && (name = most_common(s, to, len, &end)) &&
           alike(s, name, end) > s->n_deps / 2) {
        len = end;
        snprintf(to, TOP_NAME, "%.*s", (int)len, name);
    }
}
