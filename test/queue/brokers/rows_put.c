/* Putting and taking. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/policy.h"
#include "test/queue/brokers/rig.h"
#include "test/queue/brokers/rows.h"

void put_message_arrives_as_it_was(struct rig *r)
{
    struct broker *b = rig_open(r);
    struct queue_attribute attributes[] = { { "type", "email" },
                                            { "trace.id", "a \"b\" \\ \xc3\xa9" } };

    rig_put_one(b, &(struct broker_put){ .id = "order-7",
                                         .key = rig_key(b, "customer 3"),
                                         .priority = rig_priority(b, 4),
                                         .body = "hello",
                                         .len = 5,
                                         .attributes = attributes,
                                         .n_attributes = 2 });
    struct queue_message *m = rig_take_one(b, true);
    expect(strcmp(m->id, "order-7") == 0, "its id: %s", m->id);
    expect(strcmp(m->key, b->traits.has_keys ? "customer 3" : "") == 0,
           "its key: %s", m->key);
    expect(m->priority == rig_priority(b, 4), "its priority: %d", m->priority);
    expect(m->body_len == 5 && memcmp(m->body, "hello", 6) == 0, "its body");
    expect(m->n_attributes == 2, "attributes: %zu", m->n_attributes);
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 2; j++)
            if (strcmp(m->attributes[i].name, attributes[j].name) == 0)
                expect(strcmp(m->attributes[i].value, attributes[j].value) == 0,
                       "%s: %s", m->attributes[i].name, m->attributes[i].value);
    expect(m->attempt == 0 && m->deaths == 0 && !m->suspect, "it is fresh");
    expect(m->deliveries == 1, "deliveries: %u", m->deliveries);
    expect(m->token != 0, "it has a token");
    expect(*m->errors == 0, "no errors: %s", m->errors);
    rig_settle(b, m, BROKER_DONE, .ran = true);
}

void put_empty_and_binary_bodies_arrive(struct rig *r)
{
    struct broker *b = rig_open(r);
    unsigned char all[512];

    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (unsigned char)i;
    struct broker_put p[3] = { { .id = "empty" },
                               { .id = "bytes", .body = all, .len = sizeof all },
                               { .body = "\0", .len = 1 } };
    expect(b->kind->put(b, p, 3) == 0, "put: %s", b->error);
    expect(*p[2].made_id && !p[2].duplicate, "an id is made");
    for (int i = 0; i < 3; i++) {
        struct queue_message *m = rig_take_one(b, true);
        bool bytes = strcmp(m->id, "bytes") == 0;
        bool empty = strcmp(m->id, "empty") == 0;
        expect(m->body_len == (bytes ? sizeof all : empty ? 0 : 1), "%s has %zu",
               m->id, m->body_len);
        expect(!bytes || memcmp(m->body, all, sizeof all) == 0, "its bytes");
        expect(bytes || empty || strcmp(m->id, p[2].made_id) == 0, "its id");
        rig_settle(b, m, BROKER_DONE, .ran = true);
    }
}

void put_same_id_twice_is_one_message(struct rig *r)
{
    struct broker *b = rig_open(r);
    struct broker_put p[3] = { { .id = "a", .body = "1", .len = 1 },
                               { .id = "a", .body = "2", .len = 1 },
                               { .id = "b", .body = "3", .len = 1 } };
    struct broker_put again = { .id = "a", .body = "4", .len = 1 };
    struct queue_message *m[4];

    if (b->traits.forgets_ids || b->traits.blind)
        rig_skip("the broker does not say which ids are there");
    expect(b->kind->put(b, p, 3) == 0, "put: %s", b->error);
    expect(!p[0].duplicate && p[1].duplicate && !p[2].duplicate, "in a batch");
    rig_put_one(b, &again);
    expect(again.duplicate, "while it waits");
    expect(rig_take(b, m, 4) == 2, "two messages");
    rig_put_one(b, &again);
    expect(again.duplicate, "while it runs");
    for (int i = 0; i < 2; i++) {
        expect(m[i]->body[0] != '2' && m[i]->body[0] != '4', "the first stands");
        if (strcmp(m[i]->id, "a") == 0)
            rig_settle(b, m[i], BROKER_AGAIN, .counts = true, .ran = true);
        else
            rig_settle(b, m[i], BROKER_DONE, .ran = true);
    }
    rig_put_one(b, &again);
    expect(again.duplicate, "while it waits for its retry");
    m[0] = rig_take_one(b, true);
    rig_settle(b, m[0], BROKER_DONE, .ran = true);
    rig_put_one(b, &again);
    expect(!again.duplicate, "once it is done, its id is free");
}

void put_too_large_is_refused_with_the_limit(struct rig *r)
{
    struct broker *b = rig_open(r);
    char limit[32], *large = calloc(1, b->traits.max_body + 1);

    expect(large != NULL, "memory");
    struct broker_put p = { .body = large, .len = b->traits.max_body + 1 };
    int status = b->kind->put(b, &p, 1);
    free(large);
    snprintf(limit, sizeof limit, "%zu", b->traits.max_body);
    expect(status == BROKER_REFUSED, "status %d: %s", status, b->error);
    expect(strstr(b->error, limit) != NULL, "the limit %s: %s", limit, b->error);
    expect(rig_take_one(b, false) == NULL, "nothing was put");
}

void put_batch_keeps_its_order(struct rig *r)
{
    struct broker *b = rig_open(r);
    struct broker_put p[40];
    char ids[40][8];

    memset(p, 0, sizeof p);
    for (int i = 0; i < 40; i++) {
        snprintf(ids[i], sizeof ids[i], "m%02d", 99 - i);
        p[i].id = ids[i];
    }
    expect(b->kind->put(b, p, 40) == 0, "put: %s", b->error);
    for (int i = 0; i < 40; i++) {
        struct queue_message *m = rig_take_one(b, true);
        expect(strcmp(m->id, ids[i]) == 0, "%d: %s, not %s", i, m->id, ids[i]);
        rig_settle(b, m, BROKER_DONE, .ran = true);
    }
}

void put_delayed_waits_until_it_is_due(struct rig *r)
{
    struct broker *b = rig_open(r);
    struct queue_message *m[1];
    struct broker_take want = { .most = 1, .retries = 1 };
    int64_t begun = rig_now();

    rig_put(b, "late", .delay_ns = 2 * RIG_S);
    expect(b->kind->take(b, &want, m) == 0 && want.n == 0, "not yet");
    expect(want.next_ns > 0 && want.next_ns <= 2 * RIG_S + RIG_MS,
           "it says when: %lld", (long long)want.next_ns);
    m[0] = rig_take_one(b, true);
    expect(rig_now() - begun >= 2 * RIG_S - 2 * RIG_MS, "not before it is due");
    rig_settle(b, m[0], BROKER_DONE, .ran = true);
}

void put_wakes_who_waits(struct rig *r)
{
    struct broker *worker = rig_open(r), *producer = rig_open(r);
    struct queue_message *m = NULL;
    int64_t poll_ns, end = rig_now() + PATIENCE_NS;

    expect(rig_take(worker, &m, 1) == 0, "nothing yet");
    rig_put(producer, "x");
    while (rig_take(worker, &m, 1) == 0) {
        expect(rig_now() < end, "it comes");
        struct pollfd p = { worker->kind->wait_fd(worker, &poll_ns), POLLIN, 0 };
        expect(poll_ns >= 0 && poll_ns <= 5 * RIG_S, "a poll behind it");
        poll(&p, p.fd >= 0, (int)(poll_ns / RIG_MS));
        worker->kind->woken(worker);
    }
    rig_settle(worker, m, BROKER_DONE, .ran = true);
}

/* Asks as the worker does: woken() only if the descriptor says so. On PostgreSQL a
 * notification that came with an answer had the worker look without end. */
void put_that_was_heard_wakes_no_more(struct rig *r)
{
    struct broker *worker = rig_open(r), *producer = rig_open(r);
    struct queue_message *m = NULL;
    int64_t poll_ns = 0, end = rig_now() + PATIENCE_NS;
    bool rings = true;

    expect(rig_take(worker, &m, 1) == 0, "nothing yet");
    rig_put(producer, "x");
    m = rig_take_one(worker, true);
    rig_settle(worker, m, BROKER_DONE, .ran = true);
    while (rings || poll_ns == 0) {
        expect(rig_now() < end, "it becomes quiet");
        expect(rig_take(worker, &m, 1) == 0, "nothing is left");
        struct pollfd p = { worker->kind->wait_fd(worker, &poll_ns), POLLIN, 0 };
        rings = p.fd >= 0 && poll(&p, 1, 20) > 0;
        if (rings)
            worker->kind->woken(worker);
    }
}

void take_empty_queue_gives_nothing(struct rig *r)
{
    struct broker *b = rig_open(r);
    struct queue_message *m[4];
    struct broker_take want = { .most = 4, .retries = 2, .alone = true };

    expect(b->kind->take(b, &want, m) == 0, "take: %s", b->error);
    expect(want.n == 0 && !want.suspects, "nothing");
    expect(want.next_ns == BIDE_FOREVER, "none is known: %lld",
           (long long)want.next_ns);
}

void priority_higher_goes_first(struct rig *r)
{
    struct broker *b = rig_open(r);
    static const char *const order[] = { "9", "5", "0", "o", "-" };

    if (!b->traits.has_priorities)
        rig_skip("the broker has no priorities");
    rig_put(b, "-", .priority = -9);
    rig_put(b, "0", .priority = 0);
    rig_put(b, "o", .priority = 0);
    rig_put(b, "9", .priority = 9);
    rig_put(b, "5", .priority = 5);
    for (int i = 0; i < 5; i++) {
        struct queue_message *m = rig_take_one(b, true);
        expect(strcmp(m->id, order[i]) == 0, "%d: %s, not %s", i, m->id,
               order[i]);
        rig_settle(b, m, BROKER_DONE, .ran = true);
    }
}

void priority_who_waited_too_long_goes_next(struct rig *r)
{
    r->conf.ageing_ns = RIG_S;
    struct broker *b = rig_open(r);

    if (!b->traits.has_priorities)
        rig_skip("the broker has no priorities");
    rig_put(b, "old", .priority = -3);
    rig_sleep(1200 * RIG_MS);
    rig_put(b, "new", .priority = 3);
    struct queue_message *m = rig_take_one(b, true);
    expect(strcmp(m->id, "old") == 0, "the old one, not %s", m->id);
    rig_settle(b, m, BROKER_DONE, .ran = true);
    m = rig_take_one(b, true);
    expect(strcmp(m->id, "new") == 0, "then %s", m->id);
    rig_settle(b, m, BROKER_DONE, .ran = true);
}

static size_t count_retries(struct queue_message **m, size_t n)
{
    size_t retries = 0;

    for (size_t i = 0; i < n; i++)
        retries += m[i]->attempt > 0;
    return retries;
}

void retries_take_their_share_and_no_more(struct rig *r)
{
    struct broker *b = rig_open(r);
    struct queue_message *m[16];
    struct broker_take want = { .most = 4, .retries = 2 };

    if (b->traits.mixes_retries)
        rig_skip("the broker hands out retries and others as they come");
    for (int i = 0; i < 6; i++)
        rig_put(b, NULL);
    expect(rig_take(b, m, 6) == 6, "six");
    for (int i = 0; i < 6; i++)
        rig_settle(b, m[i], BROKER_AGAIN, .counts = true, .ran = true);
    for (int i = 0; i < 2; i++)
        rig_put(b, NULL);
    rig_sleep(20 * RIG_MS); /* all of them are due */
    expect(b->kind->take(b, &want, m) == 0 && want.n == 4, "four: %zu", want.n);
    expect(count_retries(m, 4) == 2, "two retries, two fresh: %zu",
           count_retries(m, 4));
    for (int i = 0; i < 4; i++)
        rig_settle(b, m[i], BROKER_DONE, .ran = true);
    expect(b->kind->take(b, &want, m) == 0 && want.n == 4,
           "only retries are left: all places are theirs: %zu", want.n);
    for (int i = 0; i < 4; i++)
        rig_settle(b, m[i], BROKER_DONE, .ran = true);
}

/* Also where one of them has failed before, whatever the share of those is. */
void priority_is_above_retries(struct rig *r)
{
    static const size_t shares[] = { 0, 1 };
    struct broker *b = rig_open(r);
    struct queue_message *m[4];

    if (!b->traits.has_priorities || b->traits.retries_apart)
        rig_skip("no priorities, or not between retries and others");
    for (size_t i = 0; i < 2; i++) {
        struct broker_take want = { .most = 1, .retries = shares[i] };
        rig_put(b, NULL, .priority = i ? 0 : 5);
        expect(rig_take(b, m, 1) == 1, "one to fail");
        rig_settle(b, m[0], BROKER_AGAIN, .counts = true, .ran = true);
        rig_put(b, NULL, .priority = i ? 5 : 0);
        rig_sleep(20 * RIG_MS); /* both are due */
        expect(b->kind->take(b, &want, m) == 0 && want.n == 1, "one");
        expect(m[0]->priority == 5, "the share is %zu: priority %d", shares[i],
               m[0]->priority);
        rig_settle(b, m[0], BROKER_DONE, .ran = true);
        expect(rig_take(b, m, 1) == 1, "the other one");
        rig_settle(b, m[0], BROKER_DONE, .ran = true);
    }
}
