/* Workers that die, freeze, live long and leave. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/queue/brokers/rig.h"
#include "test/queue/brokers/rows.h"

void worker_killed_its_message_runs_elsewhere(struct rig *r)
{
    struct rig_worker w = rig_worker(r);
    struct broker *b = rig_open(r);

    rig_put(b, "a");
    expect(rig_tell(&w, 't', 1) == 1, "it takes one");
    expect(rig_take_one(b, false) == NULL, "which nobody else gets");
    rig_kill(&w);
    struct broker_rescued got = rig_rescue(b, 1);
    expect(got.messages == 1 && got.dead == 0 && got.workers == 1, "rescued");
    struct broker_take want = { .most = 4, .retries = 4, .alone = true };
    struct queue_message *m[4];
    expect(b->kind->take(b, &want, m) == 0 && want.n == 1, "it is here: %zu",
           want.n);
    expect(m[0]->deaths == !b->traits.blames_late, "a death: %u", m[0]->deaths);
    expect(m[0]->attempt == 0 && m[0]->deliveries == 2, "no attempt is lost");
    rig_settle(b, m[0], BROKER_DONE, .ran = true);
}

void worker_killed_with_several_makes_suspects(struct rig *r)
{
    struct rig_worker w = rig_worker(r);
    struct broker *b = rig_open(r);
    struct queue_message *m[8];
    struct broker_take want = { .most = 8, .retries = 8 };

    for (int i = 0; i < 3; i++)
        rig_put(b, NULL);
    expect(rig_tell(&w, 't', 3) == 3, "it takes three");
    rig_kill(&w);
    rig_rescue(b, 3);
    expect(b->kind->take(b, &want, m) == 0, "take: %s", b->error);
    expect(want.n == 0 && want.suspects, "suspects wait, and stay: %zu", want.n);
    for (int i = 0; i < 3; i++) {
        want = (struct broker_take){ .most = 8, .retries = 8, .alone = true };
        expect(b->kind->take(b, &want, m) == 0 && want.n == 1, "one alone: %zu",
               want.n);
        expect(m[0]->suspect && m[0]->deaths == 0, "nobody is blamed");
        if (i == 0) /* it ran, and failed: no longer a suspect */
            rig_settle(b, m[0], BROKER_AGAIN, .counts = true, .ran = true,
                       .delay_ns = 2 * RIG_S);
        else
            rig_settle(b, m[0], BROKER_DONE, .ran = true);
    }
    m[0] = rig_take_one(b, true);
    expect(!m[0]->suspect, "cleared");
    rig_settle(b, m[0], BROKER_DONE, .ran = true);
}

static void kill_three_times(struct rig *r, const char *key)
{
    struct broker *b = rig_producer(r);
    struct broker_rescued got = { 0, 0, 0 };
    struct queue_message *m[4];
    struct broker_take want = { .most = 4, .retries = 4, .alone = true };

    /* from one worker to the next */
    bool passes = b->traits.partitioned || (key && b->traits.keys_stay);
    if (!passes) {
        rig_close(b);
        b = rig_open(r);
    }
    rig_put(b, "poison", .key = key);
    for (int i = 0; i < 3; i++) {
        struct rig_worker w = rig_worker(r);
        expect(rig_tell(&w, 't', 1) == 1, "death %d", i + 1);
        rig_kill(&w);
        if (passes) {
            rig_close(b);
            b = rig_join(r);
        }
        got = rig_rescue(b, 1);
        if (passes && i < 2) {
            rig_close(b);
            b = rig_producer(r);
        }
    }
    /* where keys stay, whoever has the key next says so */
    expect(got.dead == 1 || (key && b->traits.keys_stay), "the third kills it");
    int64_t end = rig_now() + 10 * RIG_S;
    struct broker_counts c;
    do {
        expect(b->kind->take(b, &want, m) == 0 && want.n == 0, "it is gone");
        c = rig_counts(b);
        rig_sleep(c.dead == 0 ? 20 * RIG_MS : 0);
    } while (c.dead == 0 && rig_now() < end);
    expect(c.dead == 1 && strcmp(c.dead_by[0].reason, "crashed") == 0,
           "dead: %s", c.dead_by[0].reason);
}

void worker_killed_three_times_by_one_message(struct rig *r)
{
    kill_three_times(r, NULL);
}

void worker_killed_three_times_by_a_key(struct rig *r)
{
    if (!rig_producer(r)->traits.has_keys)
        rig_skip("the broker has no keys");
    kill_three_times(r, "k");
}

/* The one that kills its workers, and one that ran beside it: that one survives
 * when it runs alone, and whatever dies later, it begins at nothing. */
void worker_killed_beside_the_cause_is_not_blamed(struct rig *r)
{
    struct rig_worker w = rig_worker(r);
    struct broker *b = rig_open(r);
    struct broker_take want;
    struct queue_message *m[4];

    if (b->traits.partitioned)
        rig_skip("a partition changes hands with all that is in it");
    rig_put(b, NULL);
    rig_put(b, NULL);
    expect(rig_tell(&w, 't', 2) == 2, "it takes two");
    rig_kill(&w);
    rig_rescue(b, 2);
    want = (struct broker_take){ .most = 1, .retries = 1, .alone = true };
    expect(b->kind->take(b, &want, m) == 0 && want.n == 1, "one alone");
    rig_settle(b, m[0], BROKER_AGAIN, .counts = true, .ran = true,
               .delay_ns = 3600 * RIG_S);
    for (int i = 0; i < 2; i++) { /* the other one is the cause */
        w = rig_worker(r);
        expect(rig_tell(&w, 't', 1) == 1, "death %d", i + 2);
        rig_kill(&w);
        rig_rescue(b, 1);
    }
    struct broker_counts c = rig_counts(b);
    if (c.dead == 0) { /* a death with others did not count: one more */
        expect(!b->traits.blames_late, "three were enough");
        w = rig_worker(r);
        expect(rig_tell(&w, 't', 1) == 1, "the last");
        rig_kill(&w);
        rig_rescue(b, 1);
        c = rig_counts(b);
    }
    expect(c.dead == 1 && strcmp(c.dead_by[0].reason, "crashed") == 0,
           "only the cause is dead: %d", (int)c.dead);
}

void worker_killed_frees_its_keys(struct rig *r)
{
    struct rig_worker w = rig_worker(r);
    struct broker *b = rig_producer(r);
    struct queue_message *m[4];

    if (!b->traits.has_keys)
        rig_skip("the broker has no keys");
    r->conf.max_deaths = 1;
    rig_put(b, "1", .key = "k");
    rig_put(b, "2", .key = "k");
    expect(rig_tell(&w, 't', 4) == 1, "it takes the first");
    rig_kill(&w);
    struct broker *strict = rig_join(r); /* a key may belong to who is there first */
    expect(rig_take(strict, m, 1) == 0, "nothing, as long as that is not known");
    rig_rescue(strict, 1); /* one death is enough: crashed */
    if (b->traits.blames_late) { /* or two, for who must be sure */
        w = rig_worker(r);
        expect(rig_tell(&w, 't', 4) == 1, "it takes the same");
        rig_kill(&w);
        rig_rescue(strict, 1);
    }
    m[0] = rig_take_one(strict, true);
    expect(strcmp(m[0]->id, "2") == 0, "the next one may run: %s", m[0]->id);
    rig_settle(strict, m[0], BROKER_DONE, .ran = true);
}

/* A partitioned queue has to change hands first. */
static int take_patiently(struct rig_worker *w)
{
    int64_t end = rig_now() + PATIENCE_NS;
    int got;

    while ((got = rig_tell(w, 't', 1)) == 0 && rig_now() < end)
        rig_sleep(100 * RIG_MS);
    return got;
}

static void take_and_end(struct broker *b)
{
    struct broker_take want = { .most = 4, .retries = 4, .alone = true };
    struct queue_message *m[4];

    expect(b->kind->take(b, &want, m) == 0 && want.n == 1, "somebody else has it");
    rig_settle(b, m[0], BROKER_DONE, .ran = true);
}

void worker_frozen_is_fenced_off(struct rig *r)
{
    static const char verbs[] = { 'd', 'a', 'x' };

    for (int i = 0; i < 3; i++) {
        rig_another_queue(r);
        struct rig_worker w = rig_worker(r);
        struct broker *b = rig_open(r);
        struct broker_take want = { .most = 4, .retries = 4, .alone = true };
        struct queue_message *m[4];
        rig_put(b, NULL);
        expect(rig_tell(&w, 't', 1) == 1, "it takes one");
        kill(w.pid, SIGSTOP);
        rig_rescue(b, 1);
        /* of a partitioned queue nothing can be settled while a worker comes back */
        bool early = b->traits.partitioned;
        if (early)
            take_and_end(b);
        kill(w.pid, SIGCONT);
        if (i == 0)
            expect(rig_tell(&w, 'b', 0) == 1, "its beat says: lost");
        if (!early)
            expect(b->kind->take(b, &want, m) == 0 && want.n == 1,
                   "somebody else has it");
        expect(rig_tell(&w, verbs[i], 0) == 1, "its late %c is refused",
               verbs[i]);
        if (!early)
            rig_settle(b, m[0], BROKER_DONE, .ran = true);
        struct broker_counts c = rig_counts(b);
        expect(c.waiting + c.later + c.running + c.dead == 0,
               "and has changed nothing: %c, %d waiting, %d later, %d running, %d dead",
               verbs[i], (int)c.waiting, (int)c.later, (int)c.running, (int)c.dead);
        if (!early)
            expect(rig_tell(&w, 't', 1) == 0, "it goes on");
        rig_put(b, NULL);
        if (early)
            rig_close(b); /* its partition goes to the other */
        expect((early ? take_patiently(&w) : rig_tell(&w, 't', 1)) == 1,
               "with others");
        expect(rig_tell(&w, 'd', 0) == 0, "that are its own");
        rig_kill(&w);
    }
}

void worker_that_beats_is_left_alone(struct rig *r)
{
    struct rig_worker w = rig_worker(r);
    struct broker *b = rig_open(r);
    struct broker_rescued got;
    int64_t end;

    rig_put(b, "long");
    expect(rig_tell(&w, 't', 1) == 1, "it takes one");
    end = rig_now() + 3 * r->conf.lease_ns;
    while (rig_now() < end) {
        expect(rig_tell(&w, 'b', 0) == 0, "it still has it");
        expect(b->kind->rescue(b, &got) == 0 && got.messages == 0, "left alone");
        expect(rig_take_one(b, false) == NULL, "it is not started twice");
        rig_sleep(50 * RIG_MS);
    }
    expect(rig_tell(&w, 'd', 0) == 0, "its own at the end");
}

void worker_that_leaves_gives_back(struct rig *r)
{
    struct rig_worker w = rig_worker(r);
    struct broker *b = rig_open(r);
    struct queue_message *m[4];

    rig_put(b, "a");
    rig_put(b, "b");
    expect(rig_tell(&w, 't', 2) == 2, "it takes two");
    expect(rig_tell(&w, 'c', 0) == 0, "and goes");
    for (int i = 0; i < 2; i++) {
        m[i] = rig_take_one(b, true);
        expect(m[i]->attempt == 0 && m[i]->deaths == 0 && !m[i]->suspect,
               "nobody is blamed, nothing counts");
    }
    for (int i = 0; i < 2; i++)
        rig_settle(b, m[i], BROKER_DONE, .ran = true);
}
