/* Messages with a key: never side by side, in order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/queue/brokers/rig.h"
#include "test/queue/brokers/rows.h"

static void need_keys(struct broker *b)
{
    if (!b->traits.has_keys)
        rig_skip("the broker has no keys");
}

void key_one_at_a_time_in_order(struct rig *r)
{
    struct broker *b = rig_open(r);
    struct queue_message *m[8];

    need_keys(b);
    rig_put(b, "1", .key = "k");
    rig_put(b, "2", .key = "k");
    rig_put(b, "3", .key = "k");
    rig_put(b, "o", .key = "other");
    rig_put(b, "n");
    expect(rig_take(b, m, 8) == 3, "one of each key, and the one without");
    for (int i = 0; i < 3; i++) {
        expect(strcmp(m[i]->id, "2") != 0 && strcmp(m[i]->id, "3") != 0,
               "not %s", m[i]->id);
        rig_settle(b, m[i], BROKER_DONE, .ran = true);
    }
    for (int i = 2; i <= 3; i++) {
        char id[2] = { (char)('0' + i), 0 };
        expect(rig_take(b, m, 8) == 1 && strcmp(m[0]->id, id) == 0, "then %s", id);
        rig_settle(b, m[0], BROKER_DONE, .ran = true);
    }
}

void key_that_waits_holds_only_itself(struct rig *r)
{
    struct broker *b = rig_open(r);
    struct queue_message *m[8];

    need_keys(b);
    rig_put(b, "1", .key = "k");
    rig_put(b, "2", .key = "k");
    expect(rig_take(b, m, 8) == 1, "the first");
    rig_settle(b, m[0], BROKER_AGAIN, .counts = true, .ran = true,
               .delay_ns = 2 * RIG_S);
    rig_put(b, "o", .key = "other");
    rig_put(b, "3", .key = "k");
    m[0] = rig_take_one(b, true);
    expect(strcmp(m[0]->id, "o") == 0, "only the other one: %s", m[0]->id);
    rig_settle(b, m[0], BROKER_DONE, .ran = true);
    for (int i = 1; i <= 3; i++) {
        m[0] = rig_take_one(b, true);
        expect(m[0]->id[0] == '0' + i, "in order: %s", m[0]->id);
        expect(rig_take_one(b, false) == NULL, "and nothing beside it");
        rig_settle(b, m[0], BROKER_DONE, .ran = true);
    }
}

void key_is_freed_by_a_dead_letter(struct rig *r)
{
    struct broker *b = rig_open(r);
    struct queue_message *m;

    need_keys(b);
    rig_put(b, "1", .key = "k");
    rig_put(b, "2", .key = "k");
    m = rig_take_one(b, true);
    rig_settle(b, m, BROKER_DEAD, .ran = true, .reason = "permanent",
               .cls = "permanent");
    m = rig_take_one(b, true);
    expect(strcmp(m->id, "2") == 0, "the next one: %s", m->id);
    rig_settle(b, m, BROKER_DONE, .ran = true);
}

enum { KEYS = 3, EACH = 12 };

/* Two workers, three keys, failures in between. */
void key_never_in_parallel_among_workers(struct rig *r)
{
    struct broker *b[2] = { rig_open(r), rig_open(r) };
    struct queue_message *out[KEYS] = { NULL };
    int next[KEYS] = { 0 }, whose[KEYS] = { 0 }, done = 0;
    unsigned dice = 12345;
    int64_t end = rig_now() + PATIENCE_NS;

    need_keys(b[0]);
    for (int i = 0; i < KEYS * EACH; i++) {
        char id[16], key[8];
        snprintf(key, sizeof key, "k%d", i % KEYS);
        snprintf(id, sizeof id, "%d", i / KEYS + 100);
        char full[32];
        snprintf(full, sizeof full, "%s-%s", key, id);
        rig_put_one(b[i % 2], &(struct broker_put){ .id = full, .key = key });
    }
    while (done < KEYS * EACH) {
        dice = dice * 1103515245 + 12345;
        int w = dice >> 16 & 1;
        struct queue_message *m = rig_take_one(b[w], false);
        if (m) {
            int k = m->key[1] - '0', n = atoi(m->id + 3) - 100;
            expect(out[k] == NULL, "key %d is out already", k);
            expect(n == next[k], "key %d: %d, not %d", k, n, next[k]);
            out[k] = m;
            whose[k] = w;
        }
        int k = (int)(dice >> 18 & 3) % KEYS;
        if (out[k]) {
            bool fails = (dice >> 20 & 3) == 0;
            rig_settle(b[whose[k]], out[k], fails ? BROKER_AGAIN : BROKER_DONE,
                       .counts = true, .ran = true);
            out[k] = NULL;
            next[k] += !fails;
            done += !fails;
        }
        expect(rig_now() < end, "all are done: %d", done);
    }
}

void key_redriven_waits_behind(struct rig *r)
{
    struct broker *b = rig_open(r);
    struct queue_message *m[4];
    const char *ids[] = { "1" };
    size_t n;

    need_keys(b);
    rig_put(b, "1", .key = "k");
    rig_put(b, "2", .key = "k");
    rig_settle(b, rig_take_one(b, true), BROKER_DEAD, .ran = true,
               .reason = "permanent", .cls = "permanent");
    m[0] = rig_take_one(b, true);
    expect(strcmp(m[0]->id, "2") == 0, "the next one runs");
    expect(b->kind->redrive(b, ids, 1, false, &n) == 0 && n == 1, "redriven");
    expect(rig_take(b, m + 1, 1) == 0, "it waits while its key is out");
    rig_settle(b, m[0], BROKER_DONE, .ran = true);
    m[0] = rig_take_one(b, true);
    expect(strcmp(m[0]->id, "1") == 0, "and then comes: %s", m[0]->id);
    rig_settle(b, m[0], BROKER_DONE, .ran = true);
}
