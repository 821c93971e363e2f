/* Many messages, taken again and again without a pause: what a broker does to be fast then
 * must lose nothing, start nothing twice, and keep nothing from others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/queue/brokers/rig.h"
#include "test/queue/brokers/rows.h"

enum { ALL = 320, BATCH = 32, ROUNDS = 5 };

/* What is out: taken, and not settled. */
struct quick {
    struct broker *b;
    struct queue_message *held[ALL];
    size_t n_held;
    bool seen[ALL];
    size_t n_seen;
};

static void put_all(struct broker *b)
{
    static char ids[ALL][8];
    static struct broker_put items[ALL];

    for (int i = 0; i < ALL; i++) {
        snprintf(ids[i], sizeof ids[i], "q%d", i);
        items[i] = (struct broker_put){ .id = ids[i], .body = ids[i],
                                        .len = strlen(ids[i]) };
    }
    for (int i = 0; i < ALL; i += BATCH)
        expect(b->kind->put(b, items + i, BATCH) == 0, "put: %s", b->error);
}

static void see(struct quick *q, const struct queue_message *m)
{
    int i = atoi((const char *)m->body + 1);

    expect(i >= 0 && i < ALL && !q->seen[i], "%s was not there before", m->id);
    q->seen[i] = true;
    q->n_seen++;
}

/* Settles every `each`-th of what is held (0: nothing), and takes up to so many, as one
 * turn of a worker. */
static void turn(struct quick *q, size_t each, size_t most)
{
    struct broker_end ends[ALL];
    struct broker_take want = { .most = most, .retries = most };
    const struct broker_kind *k = q->b->kind;
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < q->n_held; i++)
        if (each && i % each == 0)
            ends[n++] = (struct broker_end){ .message = q->held[i], .how = BROKER_DONE,
                                             .ran = true };
        else
            q->held[kept++] = q->held[i];
    expect(!k->begin || k->begin(q->b) == 0, "begin: %s", q->b->error);
    expect(n == 0 || k->settle(q->b, ends, n) == 0, "settle: %s", q->b->error);
    expect(kept == 0 || k->beat(q->b, q->held, kept) == 0, "beat: %s", q->b->error);
    if (most > 0)
        expect(k->take(q->b, &want, q->held + kept) == 0, "take: %s", q->b->error);
    expect(!k->commit || k->commit(q->b) == 0, "commit: %s", q->b->error);
    for (size_t i = 0; i < n; i++) {
        expect(ends[i].result == BROKER_SETTLED, "%s is ours", ends[i].message->id);
        queue_message_free(ends[i].message);
    }
    for (size_t i = 0; i < want.n; i++)
        see(q, q->held[kept + i]);
    q->n_held = kept + want.n;
}

/* Every second one ends at once, the others when all is over: so what ends is never all
 * up to some place. */
void quick_takes_leave_the_rest_to_others(struct rig *r)
{
    struct quick q = { .b = rig_open(r) };
    struct broker *other = q.b->traits.partitioned ? q.b : rig_open(r);
    struct broker_rescued got;
    struct queue_message *m;

    put_all(other);
    for (int i = 0; i < ROUNDS; i++)
        turn(&q, 2, BATCH);
    int64_t end = rig_now() + PATIENCE_NS;
    while (q.n_seen < ALL) {
        expect(rig_now() < end, "the others come: %zu of %d", q.n_seen, ALL);
        expect(q.b->kind->rescue(q.b, &got) == 0, "rescue: %s", q.b->error);
        expect(q.b->kind->beat(q.b, q.held, q.n_held) == 0, "beat: %s", q.b->error);
        for (int i = 0; i < BATCH && (m = rig_take_one(other, false)); i++) {
            see(&q, m);
            rig_settle(other, m, BROKER_DONE, .ran = true);
        }
        rig_sleep(20 * RIG_MS);
    }
    turn(&q, 1, 0);
    expect(rig_is_over(q.b, other), "nothing is left");
}

/* One at a time, where it took many: it does not keep what it could have had at once. */
void quick_takes_that_become_slow_share_with_others(struct rig *r)
{
    struct quick q = { .b = rig_open(r) };
    struct broker *other = q.b->traits.partitioned ? q.b : rig_open(r);
    struct queue_message *m;
    int slow = 0;

    put_all(other);
    for (int i = 0; i < ROUNDS; i++)
        turn(&q, 1, BATCH);
    while (q.n_seen < ALL) {
        expect(++slow < BATCH, "the others come: %zu of %d", q.n_seen, ALL);
        turn(&q, 1, 1);
        for (int i = 0; i < BATCH && (m = rig_take_one(other, false)); i++) {
            see(&q, m);
            rig_settle(other, m, BROKER_DONE, .ran = true);
        }
        rig_sleep(100 * RIG_MS);
    }
    turn(&q, 1, 0);
    expect(rig_is_over(q.b, other), "nothing is left");
}

/* More is out than may come by itself. */
void quick_takes_while_much_runs_go_on(struct rig *r)
{
    struct quick q = { .b = rig_open(r) };
    int64_t end = rig_now() + PATIENCE_NS;

    if (q.b->traits.partitioned)
        rig_skip("what runs holds back what is far behind it");
    put_all(q.b);
    while (q.n_seen < ALL) {
        expect(rig_now() < end, "all come: %zu of %d", q.n_seen, ALL);
        turn(&q, q.n_held < ALL / 2 ? 0 : 2, BATCH);
    }
    turn(&q, 1, 0);
    expect(rig_is_over(q.b, q.b), "nothing is left");
}

/* What it held is for others as well, each once. */
void quick_takes_of_a_worker_that_is_killed(struct rig *r)
{
    struct rig_worker w = rig_worker(r);
    struct quick q = { .b = rig_producer(r) };
    struct broker_rescued got;
    size_t done = 0;

    put_all(q.b);
    for (int i = 0; i < ROUNDS; i++) {
        int n = rig_tell(&w, 't', BATCH);
        expect(rig_tell(&w, 'd', n) == 0, "none is lost");
        done += (size_t)n;
    }
    rig_tell(&w, 't', BATCH);
    rig_kill(&w);
    rig_close(q.b);
    q.b = rig_join(r);
    int64_t end = rig_now() + 2 * PATIENCE_NS;
    while (q.n_seen + done < ALL) {
        struct broker_take want = { .most = BATCH, .retries = BATCH, .alone = true };
        expect(rig_now() < end, "the others come: %zu and %zu of %d", done, q.n_seen, ALL);
        expect(q.b->kind->rescue(q.b, &got) == 0, "rescue: %s", q.b->error);
        expect(q.b->kind->take(q.b, &want, q.held) == 0, "take: %s", q.b->error);
        for (size_t i = 0; i < want.n; i++) {
            see(&q, q.held[i]);
            rig_settle(q.b, q.held[i], BROKER_DONE, .ran = true);
        }
        if (want.n == 0)
            rig_sleep(20 * RIG_MS);
    }
    expect(rig_is_over(q.b, q.b), "nothing is left");
}

/* Which it had confirmed as well. */
void server_killed_between_quick_takes(struct rig *r)
{
    struct quick q;
    int status;

    if (!r->can_crash)
        rig_skip("no server that keeps its messages when it is killed");
    r->conf.lease_ns = 60 * RIG_S;
    q = (struct quick){ .b = rig_open(r) };
    if (q.b->traits.partitioned)
        rig_skip("what runs holds back what is far behind it");
    put_all(q.b);
    for (int i = 0; i < ROUNDS; i++)
        turn(&q, 2, BATCH);
    rig_ask("crash");
    rig_ask("start");
    int64_t end = rig_now() + PATIENCE_NS;
    while ((status = q.b->kind->beat(q.b, q.held, q.n_held)) == BROKER_DOWN) {
        expect(rig_now() < end, "it is back: %s", q.b->error);
        rig_sleep(100 * RIG_MS);
    }
    expect(status == 0, "beat: %s", q.b->error);
    while (q.n_seen < ALL) {
        expect(rig_now() < end, "all come: %zu of %d", q.n_seen, ALL);
        turn(&q, 0, BATCH);
        rig_sleep(20 * RIG_MS);
    }
    turn(&q, 1, 0);
    expect(rig_is_over(q.b, q.b), "nothing is left");
}

/* It dies when it was told of the ends, and before it has said that they are durable: they
 * are settled again, and what runs after that is the rest. */
void server_killed_before_ends_are_durable(struct rig *r)
{
    struct quick q;
    struct broker_end ends[BATCH];
    struct queue_message *m[BATCH];
    struct broker_take want = { .most = BATCH, .retries = BATCH };

    if (!r->can_crash)
        rig_skip("no server that keeps its messages when it is killed");
    r->conf.lease_ns = 60 * RIG_S;
    q = (struct quick){ .b = rig_open(r) };
    const struct broker_kind *k = q.b->kind;
    if (!k->begin)
        rig_skip("each verb is durable by itself");
    put_all(q.b);
    for (int i = 0; i < ROUNDS; i++)
        turn(&q, 1, BATCH);
    for (size_t i = 0; i < q.n_held; i++)
        ends[i] = (struct broker_end){ .message = q.held[i], .how = BROKER_DONE,
                                       .ran = true };
    expect(k->begin(q.b) == 0 && k->settle(q.b, ends, q.n_held) == 0, "settle: %s",
           q.b->error);
    rig_ask("crash");
    int status = k->take(q.b, &want, m);
    int committed = k->commit(q.b);
    rig_ask("start");
    int64_t end = rig_now() + PATIENCE_NS;
    expect(status != 0 || committed != 0, "what nobody has heard counts");
    while ((status = k->settle(q.b, ends, q.n_held)) == BROKER_DOWN) {
        expect(rig_now() < end, "it is back: %s", q.b->error);
        rig_sleep(100 * RIG_MS);
    }
    expect(status == 0, "settle: %s", q.b->error);
    for (size_t i = 0; i < q.n_held; i++)
        queue_message_free(q.held[i]);
    q.n_held = 0;
    while (q.n_seen < ALL) {
        expect(rig_now() < end, "all come: %zu of %d", q.n_seen, ALL);
        turn(&q, 1, BATCH);
    }
    turn(&q, 1, 0);
    expect(rig_is_over(q.b, q.b), "nothing is left");
}
