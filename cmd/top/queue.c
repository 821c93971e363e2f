/* The queue of a worker. */
#include "cmd/top/queue.h"

#include <math.h>
#include <string.h>

#include "cmd/top/cells.h"
#include "cmd/top/state.h"

/* ===== reading ===== */

static const struct {
    const char *name, *label; /* NULL: it has none */
    size_t offset;            /* in struct top_queue */
} numbers[] = {
#define AT(member) offsetof(struct top_queue, member)
    { "bide_queue_messages", "waiting", AT(waiting) },
    { "bide_queue_messages", "held", AT(held) },
    { "bide_queue_messages", "later", AT(later) },
    { "bide_queue_messages", "dead", AT(dead) },
    { "bide_queue_oldest_seconds", NULL, AT(oldest_s) },
    { "bide_worker_broker_up", NULL, AT(broker) },
    { "bide_worker_paused_seconds", NULL, AT(paused_s) },
    { "bide_worker_running", NULL, AT(running) },
    { "bide_worker_done_total", NULL, AT(done) },
    { "bide_worker_retries_total", NULL, AT(retries) },
    { "bide_worker_given_back_total", NULL, AT(given_back) },
    { "bide_worker_redeliveries_total", NULL, AT(redelivered) },
    { "bide_worker_lost_leases_total", NULL, AT(lost) },
    { "bide_worker_rescued_total", NULL, AT(rescued) },
#undef AT
};

static void add_died(struct top_queue *q, const char *reason, double n)
{
    size_t used = strlen(q->died);

    if (n > 0)
        snprintf(q->died + used, sizeof q->died - used, "%s%.0f %s",
                 used ? ", " : "", n, reason);
}

static void read_value(struct top_queue *q, const struct bide__node *node)
{
    char name[64], label[48];
    double value = top_number(node, "value", 0);

    top_text(node, "name", name, sizeof name);
    top_text(node, "label_value", label, sizeof label);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(name, numbers[i].name) == 0 &&
            (!numbers[i].label || strcmp(label, numbers[i].label) == 0)) {
            memcpy((char *)q + numbers[i].offset, &value, sizeof value);
            q->there = true;
        }
    if (strcmp(name, "bide_worker_paused") == 0 && value > 0)
        snprintf(q->paused, sizeof q->paused, "%s", *label ? label : "?");
    if (strcmp(name, "bide_worker_dead_total") == 0)
        add_died(q, label, value);
}

void top_queue_read(struct top_state *s, const struct bide__node *values,
                    const struct top_state *before)
{
    struct top_queue *q = &s->queue;

    q->broker = 1;
    for (size_t i = 0; i < top_items(values); i++)
        read_value(q, values->items[i]);
    q->done_per_s = (double)NAN;
    if (before->queue.there && s->now_ms > before->now_ms &&
        q->done >= before->queue.done)
        q->done_per_s = (q->done - before->queue.done) * 1000 /
                        (s->now_ms - before->now_ms);
}

/* ===== showing ===== */

void top_queue_show(FILE *out, const struct top_state *s,
                    const struct top_look *look)
{
    const struct top_queue *q = &s->queue;
    char line[256], a[16], b[16], state[80];
    const char *rate = isnan(q->done_per_s) ? "" : top_rate(q->done_per_s, b);

    if (!q->there)
        return;
    snprintf(line, sizeof line,
             "queue: %.0f waiting%s%s, %.0f later, %.0f running, %.0f dead  "
             "%.0f done%s%s%s",
             q->waiting + q->held, q->oldest_s > 0 ? ", oldest " : "",
             q->oldest_s > 0 ? top_duration(q->oldest_s * 1000, a) : "",
             q->later, q->running, q->dead, q->done, *rate ? ", " : "", rate,
             *rate ? "/s" : "");
    top_cell(out, line, look->width - 1, TOP_LAST);
    fputc('\n', out);
    bool away = q->broker == 0;
    snprintf(state, sizeof state, "paused for %s: %s",
             top_duration(q->paused_s * 1000, a), q->paused);
    snprintf(line, sizeof line,
             "%s  %.0f retries, %.0f redeliveries, %.0f lost leases, %.0f "
             "rescued%s%s",
             away         ? "the broker does not answer"
             : *q->paused ? state
                          : "flowing",
             q->retries, q->redelivered, q->lost, q->rescued,
             *q->died ? "; died: " : "", q->died);
    fputs(top_paint(look, away || *q->paused ? TOP_BAD : TOP_GOOD), out);
    top_cell(out, line, look->width - 1, TOP_LAST);
    fprintf(out, "%s\n", look->paint.plain);
}
