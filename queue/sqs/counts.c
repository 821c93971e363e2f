/* How many there are, as SQS estimates it, and which queues. */
#include <stdio.h>
#include <string.h>

#include "bide/policy.h"
#include "queue/sqs/look.h"

enum { MOST_WALKED = 1000 }; /* dead letters that are looked at for their reasons */
#define FRESH_NS (5 * SQ_S)

static uint64_t number(struct sq_value a, const char *name)
{
    int64_t n = sq_number(sq_member(a, name), 0);

    return n > 0 ? (uint64_t)n : 0;
}

static int add_queue(struct sqs_broker *q, enum sq_where where,
                     struct broker_counts *c)
{
    struct sq_value a;
    int status = sq_attributes(q, where, &a);

    if (status != 0)
        return status;
    c->waiting += number(a, "ApproximateNumberOfMessages");
    c->later += number(a, "ApproximateNumberOfMessagesDelayed");
    c->running += number(a, "ApproximateNumberOfMessagesNotVisible");
    return 0;
}

static bool count_reason(void *arg, const struct broker_row *row)
{
    struct broker_counts *c = arg;
    int i = 0;

    while (i < BROKER_REASONS - 1 && c->dead_by[i].n &&
           strcmp(c->dead_by[i].reason, row->reason) != 0)
        i++;
    if (!c->dead_by[i].n)
        snprintf(c->dead_by[i].reason, sizeof c->dead_by[i].reason, "%s",
                 row->reason);
    c->dead_by[i].n++;
    return true;
}

static void sort_reasons(struct broker_counts *c)
{
    for (int i = 1; i < BROKER_REASONS; i++)
        for (int j = i; j > 0 && c->dead_by[j].n > c->dead_by[j - 1].n; j--) {
            char reason[sizeof c->dead_by[0].reason];
            uint64_t n = c->dead_by[j].n;
            memcpy(reason, c->dead_by[j].reason, sizeof reason);
            c->dead_by[j] = c->dead_by[j - 1];
            memcpy(c->dead_by[j - 1].reason, reason, sizeof reason);
            c->dead_by[j - 1].n = n;
        }
}

static int add_dead(struct sqs_broker *q, struct broker_counts *c)
{
    struct broker_filter f = { .dead = true, .most = MOST_WALKED };
    struct broker_counts dead = { 0 };
    int status = q->urls[SQ_DEAD] ? 0 : sq_find_queue(q, SQ_DEAD);

    if (status != 0)
        return status == BROKER_REFUSED ? 0 : status;
    status = add_queue(q, SQ_DEAD, &dead);
    c->dead = dead.waiting + dead.running + dead.later;
    if (status != 0 || c->dead == 0)
        return status;
    if (c->dead == q->counts.dead && q->counts.dead_by[0].n) {
        memcpy(c->dead_by, q->counts.dead_by, sizeof c->dead_by);
        return 0;
    }
    if (q->consume && c->dead > MOST_WALKED / 10)
        return 0; /* a worker knows its own reasons */
    status = sq_each(&q->b, &f, count_reason, c);
    sort_reasons(c);
    return status;
}

/* A worker asks every second, and SQS bills each question: unless something has
 * happened here, what it said seconds ago is good enough. */
int sq_counts(struct broker *b, struct broker_counts *ret)
{
    struct sqs_broker *q = (struct sqs_broker *)b;
    struct broker_counts c = { .next_ns = BIDE_FOREVER, .workers = UINT64_MAX };
    int64_t now = sq_now();

    if (q->counts_ns && now - q->counts_ns < FRESH_NS) {
        *ret = q->counts;
        return 0;
    }
    int status = add_queue(q, SQ_MAIN, &c);
    if (status == 0 && !q->urls[SQ_SUSPECTS] && !q->consume &&
        sq_find_queue(q, SQ_SUSPECTS) == BROKER_DOWN)
        return BROKER_DOWN; /* a worker looks for them itself */
    if (status == 0 && q->urls[SQ_SUSPECTS])
        status = add_queue(q, SQ_SUSPECTS, &c);
    if (status == 0)
        status = add_dead(q, &c);
    if (status != 0)
        return status;
    q->counts = *ret = c;
    q->counts_ns = now;
    return 0;
}

/* ===== names ===== */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

int sq_queues(struct broker *b, void (*fn)(void *arg, const char *name),
              void *arg)
{
    struct sqs_broker *q = (struct sqs_broker *)b;
    struct bide__json *j = sq_begin(q, SQ_PLACES);
    struct sq_value answer, v;

    bide__json_integer(j, "MaxResults", 1000);
    int status = sq_ask(q, "ListQueues", SQ_REPEAT, 0, &answer);
    if (status != 0)
        return status;
    for (size_t at = 0; sq_next(sq_member(answer, "QueueUrls"), &at, &v);) {
        char url[400], *name;
        sq_copy(v, url, sizeof url);
        name = strrchr(url, '/');
        if (!name || ends_with(name, "-dead") || ends_with(name, "-dead.fifo") ||
            ends_with(name, "-suspects") || ends_with(name, "-suspects.fifo") ||
            ends_with(name, "-redrive") || ends_with(name, "-redrive.fifo"))
            continue;
        fn(arg, name + 1);
    }
    return 0;
}
