/* A server that is killed or frozen, and messages that others wrote. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/queue/brokers/rig.h"
#include "test/queue/brokers/rows.h"

/* Calls take() until it works; it must within 10 s of the server's return. */
static struct queue_message *take_again(struct broker *b, int64_t back_ns)
{
    struct broker_take want = { .most = 1, .retries = 1, .alone = true };
    struct queue_message *m = NULL;

    for (;;) {
        int status = b->kind->take(b, &want, &m);
        if (status == 0 && want.n == 1)
            return m;
        expect(status == 0 || status == BROKER_DOWN, "down, not %d: %s", status,
               b->error);
        expect(rig_now() - back_ns < PATIENCE_NS, "it is back: %s", b->error);
        rig_sleep(100 * RIG_MS);
    }
}

/* A worker that is just back may still wait for what it held. */
static void settle_again(struct broker *b, struct queue_message *m, int64_t back_ns)
{
    struct broker_end end = { .message = m, .how = BROKER_DONE, .ran = true };
    int status;

    while ((status = b->kind->settle(b, &end, 1)) == BROKER_DOWN) {
        expect(rig_now() - back_ns < PATIENCE_NS, "it is back: %s", b->error);
        rig_sleep(100 * RIG_MS);
    }
    expect(status == 0 && end.result == BROKER_SETTLED, "it is ours: %s %s", m->id,
           b->error);
    queue_message_free(m);
}

void server_killed_keeps_what_it_confirmed(struct rig *r)
{
    struct broker *b;
    struct queue_message *m[4];

    if (!r->can_crash)
        rig_skip("no server that keeps its messages when it is killed");
    b = rig_open(r);
    rig_put(b, "l", .delay_ns = 3600 * RIG_S);
    rig_put(b, "x");
    rig_settle(b, rig_take_one(b, true), BROKER_DEAD, .ran = true,
               .reason = "permanent", .cls = "permanent");
    rig_put(b, "y");
    rig_settle(b, rig_take_one(b, true), BROKER_AGAIN, .counts = true,
               .ran = true, .delay_ns = 3600 * RIG_S, .error = "exit 1");
    rig_put(b, "w");
    rig_ask("crash");
    struct broker_take want = { .most = 1, .retries = 1 };
    int status = b->kind->take(b, &want, m);
    expect(status == BROKER_DOWN, "down, not %d: %zu taken, %s", status, want.n,
           b->error);
    rig_ask("start");
    m[0] = take_again(b, rig_now());
    expect(strcmp(m[0]->id, "w") == 0, "it waits: %s", m[0]->id);
    rig_settle(b, m[0], BROKER_DONE, .ran = true);
    /* a server that is just back counts only what it has looked at */
    struct broker_counts c = rig_counts(b);
    int64_t end = rig_now() + PATIENCE_NS;
    while ((c.later < 2 || c.dead < 1) && rig_now() < end) {
        rig_sleep(100 * RIG_MS);
        c = rig_counts(b);
    }
    expect(c.later == 2 && c.dead == 1 && c.running == 0, "later %d, dead %d",
           (int)c.later, (int)c.dead);
}

void server_killed_running_ones_settle_after(struct rig *r)
{
    struct broker *b;

    if (!r->can_crash)
        rig_skip("no server that keeps its messages when it is killed");
    r->conf.lease_ns = 60 * RIG_S;
    b = rig_open(r);
    rig_put(b, "a");
    rig_put(b, "b");
    struct queue_message *m = rig_take_one(b, true);
    rig_ask("crash");
    rig_ask("start");
    int64_t back = rig_now();
    struct queue_message *n = take_again(b, back);
    expect(strcmp(m->id, n->id) != 0, "the other one: a delivery outlives it");
    expect(b->kind->beat(b, &m, 1) == 0 && !m->lost, "it is ours: %s", b->error);
    settle_again(b, m, back);
    settle_again(b, n, back);
    expect(rig_counts(b).running == 0, "nothing is left");
}

/* One of a key runs meanwhile: the next of it waits, and another key does not. */
void server_killed_keys_keep_their_place(struct rig *r)
{
    struct broker *b;

    if (!r->can_crash)
        rig_skip("no server that keeps its messages when it is killed");
    r->conf.lease_ns = 60 * RIG_S;
    b = rig_open(r);
    if (!b->traits.has_keys)
        rig_skip("no keys");
    rig_put(b, "a", .key = "k");
    rig_put(b, "b", .key = "k");
    struct queue_message *m = rig_take_one(b, true);
    expect(strcmp(m->id, "a") == 0, "the first: %s", m->id);
    rig_put(b, "c", .key = "other");
    rig_ask("crash");
    rig_ask("start");
    int64_t back = rig_now();
    struct queue_message *n = take_again(b, back);
    expect(strcmp(n->id, "c") == 0, "not its key's next: %s", n->id);
    expect(b->kind->beat(b, &m, 1) == 0 && !m->lost, "it is ours: %s",
           b->error);
    settle_again(b, m, back);
    settle_again(b, n, back);
    m = rig_take_one(b, true);
    expect(strcmp(m->id, "b") == 0, "then the next: %s", m->id);
    rig_settle(b, m, BROKER_DONE, .ran = true);
}

/* A retry runs when the server hangs, and what became of it cannot be told before
 * the worker has lost its lease: from then on, retries come as before. */
void server_frozen_past_the_lease_retries_go_on(struct rig *r)
{
    struct broker *b;

    if (!r->can_crash)
        rig_skip("no server that keeps its messages when it is killed");
    b = rig_open(r);
    rig_put(b, "a");
    rig_settle(b, rig_take_one(b, true), BROKER_AGAIN, .counts = true, .ran = true);
    struct queue_message *m = rig_take_one(b, true);
    struct broker_end end = { .message = m, .how = BROKER_DONE, .ran = true };
    rig_ask("freeze");
    int64_t begun = rig_now();
    int status = b->kind->settle(b, &end, 1);
    while (rig_now() - begun < 2 * r->conf.lease_ns)
        rig_sleep(100 * RIG_MS);
    rig_ask("thaw");
    /* some hear of an end only with what comes after it */
    expect(status == BROKER_DOWN || status == 0, "down, not %d", status);
    int64_t back = rig_now();
    while (status != 0 && (status = b->kind->settle(b, &end, 1)) != 0)
        expect(rig_now() - back < PATIENCE_NS, "it is back: %s", b->error);
    queue_message_free(m);
    rig_put(b, "b");
    for (int left = 2; left > 0;) { /* was it lost, the first one may come again */
        struct broker_rescued unused;
        (void)b->kind->rescue(b, &unused);
        m = take_again(b, back);
        bool first = strcmp(m->id, "b") == 0 && m->attempt == 0;
        left -= strcmp(m->id, "b") == 0;
        rig_settle(b, m, first ? BROKER_AGAIN : BROKER_DONE, .counts = true,
                   .ran = true);
    }
}

void server_frozen_answers_down_in_time(struct rig *r)
{
    struct broker *b;

    if (!r->has_server)
        rig_skip("no server");
    b = rig_open(r);
    rig_put(b, "a");
    rig_ask("freeze");
    int64_t begun = rig_now();
    struct broker_put p = { .id = "b" };
    int status = b->kind->put(b, &p, 1);
    int64_t took = rig_now() - begun;
    rig_ask("thaw");
    expect(status == BROKER_DOWN, "down, not %d", status);
    expect(took < 20 * RIG_S, "it took %lld ms", (long long)(took / RIG_MS));
    struct queue_message *m = take_again(b, rig_now());
    rig_settle(b, m, BROKER_DONE, .ran = true);
}

/* The server takes it after we have given up: nobody knows that this worker has
 * it, and it must come back although the worker lives. */
void server_frozen_take_is_not_lost(struct rig *r)
{
    struct broker *b;
    struct queue_message *m = NULL;
    struct broker_take want = { .most = 1, .retries = 1 };

    if (!r->has_server)
        rig_skip("no server");
    r->conf.lease_ns = 600 * RIG_S;
    b = rig_open(r);
    rig_put(b, "a");
    rig_settle(b, rig_take_one(b, true), BROKER_AGAIN, .ran = true);
    rig_ask("freeze");
    int status = b->kind->take(b, &want, &m);
    rig_ask("thaw");
    expect(status == BROKER_DOWN, "down, not %d", status);
    int64_t end = rig_now() + PATIENCE_NS;
    while (b->kind->take(b, &want, &m) != 0 || want.n == 0) {
        expect(rig_now() < end, "it comes back");
        (void)b->kind->beat(b, NULL, 0);
        rig_sleep(200 * RIG_MS);
    }
    expect(m->deaths == 0 && m->attempt == 0, "nobody is to blame");
    rig_settle(b, m, BROKER_DONE, .ran = true);
}

/* What came of those that were written by hand. */
struct foreign {
    bool plain, full, odd;
};

static void see_foreign(struct foreign *seen, const struct queue_message *m,
                        const char *key)
{
    expect(queue_id_ok(m->id), "an id in form: %s", m->id);
    if (m->body_len == 5 && memcmp(m->body, "plain", 5) == 0)
        seen->plain = true;
    if (strcmp(m->id, "foreign-7") == 0) {
        expect(m->body_len == 4 && memcmp(m->body, "full", 4) == 0, "body");
        expect(!key || strcmp(m->key, key) == 0, "key: %s", m->key);
        expect(m->n_attributes == 1 &&
                   strcmp(m->attributes[0].name, "type") == 0 &&
                   strcmp(m->attributes[0].value, "email") == 0,
               "attributes: %zu", m->n_attributes);
        seen->full = true;
    }
    if (m->body_len == 3 && memcmp(m->body, "odd", 3) == 0) {
        for (size_t j = 0; j < m->n_attributes; j++)
            seen->odd |= strcmp(m->attributes[j].name, "an_odd_name_") == 0 &&
                         strcmp(m->attributes[j].value, "7") == 0;
        expect(seen->odd, "its attribute is brought into form");
    }
}

/* Written by hand, with the server's own client: run.py says what. */
void foreign_messages_are_handled(struct rig *r)
{
    struct broker *b;
    struct foreign seen = { false, false, false };

    if (!r->has_server)
        rig_skip("no server");
    b = rig_open(r);
    rig_ask("foreign %s", r->queue);
    for (int i = 0; i < 4; i++) {
        struct queue_message *m = rig_take_one(b, true);
        see_foreign(&seen, m, b->traits.has_keys ? "customer" : NULL);
        if (i == 1) /* also one that fails lives on */
            rig_settle(b, m, BROKER_AGAIN, .counts = true, .ran = true);
        else
            rig_settle(b, m, BROKER_DONE, .ran = true);
    }
    struct broker_counts c = rig_counts(b);
    expect(c.waiting + c.running + c.later + c.dead == 0, "all are done");
    expect(seen.plain && seen.full && seen.odd, "all three came: %d %d %d",
           seen.plain, seen.full, seen.odd);
}
