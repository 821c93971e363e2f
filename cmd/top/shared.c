/* The store of idempotency records, and the fleet. */
#include "cmd/top/shared.h"

#include <math.h>
#include <string.h>

#include "cmd/top/cells.h"
#include "cmd/top/state.h"

/* ===== reading ===== */

static void read_value(struct top_shared *to, const struct bide__node *node)
{
    static const struct {
        const char *name;
        size_t offset; /* in struct top_shared */
    } numbers[] = {
#define AT(member) offsetof(struct top_shared, member)
        { "bide_store_up", AT(up) },
        { "bide_store_records", AT(records) },
        { "bide_store_bytes", AT(bytes) },
        { "bide_store_limit_bytes", AT(limit) },
        { "bide_store_down_total", AT(unanswered) },
        { "bide_proxy_idempotency_full_total", AT(full) },
#undef AT
    };
    double value = top_number(node, "value", 0);
    char name[64];

    top_text(node, "name", name, sizeof name);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(name, numbers[i].name) == 0)
            memcpy((char *)to + numbers[i].offset, &value, sizeof value);
}

void top_shared_read(struct top_state *s, const struct bide__node *values,
                     const struct bide__node *deps)
{
    s->shared.up = -1;
    for (size_t i = 0; i < top_items(values); i++)
        read_value(&s->shared, values->items[i]);
    for (size_t i = 0; i < top_items(deps); i++) {
        const struct bide__node *fleet = top_get(deps->items[i], "fleet");
        const struct bide__node *joined = top_get(fleet, "joined");
        s->shared.in_fleet += joined != NULL;
        s->shared.alone += joined && !bide__node_is(joined, "true");
        s->shared.instances =
            fmax(s->shared.instances, top_number(fleet, "instances", 0));
    }
}

/* ===== showing ===== */

static void put_line(FILE *out, const char *line, bool well,
                     const struct top_look *look)
{
    fputs(top_paint(look, well ? TOP_GOOD : TOP_BAD), out);
    top_cell(out, line, look->width - 1, TOP_LAST);
    fprintf(out, "%s\n", look->paint.plain);
}

static void show_store(FILE *out, const struct top_shared *t,
                       const struct top_look *look)
{
    bool up = t->up > 0;
    char line[160], full[64] = "";

    if (t->full > 0)
        snprintf(full, sizeof full, "; %.0f requests found no room", t->full);
    if (up)
        snprintf(line, sizeof line, "store: up, %.0f record%s, %.0f%% full%s",
                 t->records, t->records == 1 ? "" : "s",
                 t->limit > 0 ? 100 * t->bytes / t->limit : 0, full);
    else
        snprintf(line, sizeof line,
                 "store: down, %.0f operations unanswered; the log says why",
                 t->unanswered);
    put_line(out, line, up, look);
}

static void show_fleet(FILE *out, const struct top_shared *t,
                       const struct top_look *look)
{
    char line[160];

    if (t->alone == 0)
        snprintf(line, sizeof line, "fleet: joined, %.0f instance%s",
                 t->instances, t->instances == 1 ? "" : "s");
    else
        snprintf(line, sizeof line,
                 "fleet: alone, with its own part of the budget; the log says "
                 "why");
    put_line(out, line, t->alone == 0, look);
}

size_t top_shared_show(FILE *out, const struct top_state *s,
                       const struct top_look *look)
{
    const struct top_shared *t = &s->shared;
    bool store = t->up >= 0, fleet = t->in_fleet > 0;

    if (out && store)
        show_store(out, t, look);
    if (out && fleet)
        show_fleet(out, t, look);
    return (size_t)store + fleet;
}
