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

enum { BEHIND = 100, OTHERS = 20 };

/* As many as no broker keeps in view: those of other keys go on beside them, fresh ones
 * as well, and the order stays. */
void key_that_waits_with_many_behind_it(struct rig *r)
{
    struct broker *b = rig_open(r);
    struct queue_message *m;
    char id[16], key[16];
    int next = 1;

    need_keys(b);
    if (b->traits.partitioned)
        rig_skip("those behind it are in a partition with others");
    for (int i = 0; i <= BEHIND; i++) {
        snprintf(id, sizeof id, "k%d", i);
        rig_put(b, id, .key = "k");
    }
    m = rig_take_one(b, true);
    expect(strcmp(m->id, "k0") == 0, "the first: %s", m->id);
    rig_settle(b, m, BROKER_AGAIN, .counts = true, .ran = true,
               .delay_ns = 20 * RIG_S);
    for (int i = 0; i < OTHERS; i++) {
        snprintf(id, sizeof id, "o%d", i);
        snprintf(key, sizeof key, "other%d", i);
        rig_put_one(b, &(struct broker_put){ .id = id, .key = key });
    }
    for (int i = 0; i < OTHERS; i++) {
        m = rig_take_one(b, true);
        expect(m->id[0] == 'o', "%s goes on before it", m->id);
        rig_settle(b, m, BROKER_DONE, .ran = true);
    }
    m = rig_take_one(b, true);
    expect(strcmp(m->id, "k0") == 0 && m->attempt == 1, "it is due: %s", m->id);
    rig_settle(b, m, BROKER_DONE, .ran = true);
    for (; next <= BEHIND; next++) {
        snprintf(id, sizeof id, "k%d", next);
        m = rig_take_one(b, true);
        expect(strcmp(m->id, id) == 0, "%s, not %s", id, m->id);
        expect(next % 10 != 0 || rig_take_one(b, false) == NULL, "alone");
        bool fails = next % 30 == 7 && m->attempt == 0;
        rig_settle(b, m, fails ? BROKER_AGAIN : BROKER_DONE, .counts = true, .ran = true);
        next -= fails; /* it comes again, before the next */
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

/* What one worker has learnt of a message, the next one knows. */
void key_retry_is_known_to_others(struct rig *r)
{
    struct broker *b[2] = { rig_open(r), rig_open(r) };
    static const uint32_t attempts[] = { 0, 1, 1, 1, 2 };

    need_keys(b[0]);
    if (b[0]->traits.keys_stay)
        rig_skip("a key stays with its worker");
    rig_put(b[0], "1", .key = "k");
    rig_put(b[0], "2", .key = "k");
    for (uint32_t i = 0; i < 5; i++) {
        struct queue_message *m = rig_take_one(b[i % 2], true);
        expect(strcmp(m->id, "1") == 0 && strcmp(m->key, "k") == 0, "%s", m->id);
        expect(m->attempt == attempts[i] && m->deliveries == i + 1,
               "attempt %u, delivery %u, not %u", m->attempt, m->deliveries, i);
        expect(m->deaths == 0 && !m->suspect, "nobody died");
        expect(i == 0 || strstr(m->errors, "exit 0") != NULL, "its errors: %s",
               m->errors);
        rig_settle(b[i % 2], m, BROKER_AGAIN, .counts = i == 0 || i == 3,
                   .ran = true, .error = i == 0 ? "exit 0" : "away",
                   .delay_ns = i == 1 ? RIG_S : 0);
        if (i == 1)
            expect(rig_take_one(b[0], false) == NULL, "its follower waits");
    }
    for (int i = 1; i <= 2; i++) {
        struct queue_message *m = rig_take_one(b[1], true);
        expect(m->id[0] == '0' + i, "in order: %s", m->id);
        rig_settle(b[1], m, BROKER_DONE, .ran = true);
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
