/* Attempts in the order of clients, calls and attempts, and their positions. */
#include "sim/report/timeline.h"

#include <stdlib.h>

#include "sim/model/memory.h"
#include "sim/report/plot/curves.h"
#include "sim/report/plot/scale.h"

/* ===== putting marks in order ===== */

static int compare(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int by_call(const void *a, const void *b)
{
    const struct sim_mark *x = a, *y = b;
    int order = compare(x->fleet, y->fleet);

    order = order ? order : compare(x->client, y->client);
    order = order ? order : compare(x->call, y->call);
    order = order ? order : compare(x->attempt, y->attempt);
    return order ? order
                 : (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static int by_client(const void *a, const void *b)
{
    const struct page_client *x = a, *y = b;
    int order = compare(x->fleet, y->fleet);

    return order ? order : compare(x->client, y->client);
}

bool page_mark_same_call(const struct sim_mark *a, const struct sim_mark *b)
{
    return a->fleet == b->fleet && a->client == b->client && a->call == b->call;
}

static uint32_t end_of_call(const struct page_timeline *t, uint32_t i)
{
    uint32_t end = i + 1;

    while (end < t->n && page_mark_same_call(&t->marks[i], &t->marks[end]))
        end++;
    return end;
}

/* A call gets the first lane that is free when it begins; if none is, the
 * last. */
static void place_call(struct page_timeline *t, uint32_t from, uint32_t to,
                       struct page_cast *cast, uint8_t row,
                       int64_t free_ns[PAGE_LANES])
{
    int64_t end_ns = t->marks[from].to_ns;
    uint8_t lane = 0;

    for (uint32_t i = from; i < to; i++)
        end_ns = t->marks[i].to_ns > end_ns ? t->marks[i].to_ns : end_ns;
    while (lane + 1 < PAGE_LANES && free_ns[lane] > t->marks[from].from_ns)
        lane++;
    free_ns[lane] = end_ns;
    cast->lanes = lane + 1u > cast->lanes ? lane + 1u : cast->lanes;
    for (uint32_t i = from; i < to; i++) {
        t->lane[i] = lane;
        t->row[i] = row;
    }
}

static uint32_t row_of(const struct page_cast *cast, const struct sim_mark *m)
{
    uint32_t i = 0;

    while (i < cast->n &&
           (cast->who[i].fleet != m->fleet || cast->who[i].client != m->client))
        i++;
    return i;
}

static void place_all(struct page_timeline *t, struct page_cast *cast)
{
    int64_t free_ns[PAGE_CLIENTS][PAGE_LANES] = { { 0 } };

    for (uint32_t i = 0, end; i < t->n; i = end) {
        uint32_t row = row_of(cast, &t->marks[i]);

        end = end_of_call(t, i);
        place_call(t, i, end, cast, (uint8_t)row, free_ns[row]);
    }
}

bool page_mark_within(const struct sim_mark *m, const struct page_scale *x)
{
    return (double)m->to_ns >= x->from && (double)m->from_ns <= x->to;
}

struct page_timeline page_timeline_of(const struct sim_result *r,
                                      struct page_cast *cast)
{
    struct page_timeline t = { .marks = sim_new(r->n_marks, sizeof *t.marks),
                               .lane = sim_new(r->n_marks, 1),
                               .row = sim_new(r->n_marks, 1) };

    for (uint32_t i = 0; i < r->n_marks; i++)
        if (page_mark_within(&r->marks[i], &cast->x) &&
            row_of(cast, &r->marks[i]) < cast->n)
            t.marks[t.n++] = r->marks[i];
    qsort(t.marks, t.n, sizeof *t.marks, by_call);
    place_all(&t, cast);
    return t;
}

void page_timeline_done(struct page_timeline *t)
{
    free(t->marks);
    free(t->lane);
    free(t->row);
}

/* The clients that do anything in that time, in any variant. */
void page_cast_choose(struct page_cast *cast, const struct sim_summary *s)
{
    for (uint32_t v = 0; v < s->n_variants; v++) {
        const struct sim_result *r = page_run(s, v);

        for (uint32_t i = 0; r && i < r->n_marks && cast->n < PAGE_CLIENTS; i++)
            if (page_mark_within(&r->marks[i], &cast->x) &&
                row_of(cast, &r->marks[i]) == cast->n)
                cast->who[cast->n++] =
                    (struct page_client){ r->marks[i].fleet,
                                          r->marks[i].client };
    }
    qsort(cast->who, cast->n, sizeof cast->who[0], by_client);
}
