/* What becomes of a delivery, and how the queue looks then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/policy.h"
#include "test/queue/brokers/rig.h"
#include "test/queue/brokers/rows.h"

void done_leaves_the_queue(struct rig *r)
{
    struct broker *b = rig_open(r);

    rig_put(b, "a");
    rig_settle(b, rig_take_one(b, true), BROKER_DONE, .ran = true);
    struct broker_counts c = rig_counts(b);
    expect(c.waiting + c.held + c.later + c.running + c.dead == 0, "it is empty");
    expect(rig_take_one(b, false) == NULL, "and gives nothing");
}

void again_waits_and_counts(struct rig *r)
{
    struct broker *b = rig_open(r);
    int64_t begun;

    rig_put(b, "a", .key = rig_key(b, "k"));
    struct queue_message *m = rig_take_one(b, true);
    uint64_t token = m->token;
    begun = rig_now();
    rig_settle(b, m, BROKER_AGAIN, .counts = true, .ran = true,
               .delay_ns = 1500 * RIG_MS, .error = "exit 1");
    expect(rig_take_one(b, false) == NULL, "not yet");
    m = rig_take_one(b, true);
    expect(rig_now() - begun >= 1498 * RIG_MS, "not before its time");
    expect(m->attempt == 1, "attempt: %u", m->attempt);
    expect(m->deliveries == 2, "deliveries: %u", m->deliveries);
    expect(m->token != token, "another token");
    expect(strstr(m->errors, "exit 1") != NULL, "its errors: %s", m->errors);
    expect(m->body_len == 1 && m->body[0] == 'a', "its body");
    expect(strcmp(m->id, "a") == 0 &&
               strcmp(m->key, b->traits.has_keys ? "k" : "") == 0,
           "its names");
    rig_settle(b, m, BROKER_AGAIN, .counts = true, .ran = true,
               .error = "exit \xff 2");
    m = rig_take_one(b, true);
    expect(m->attempt == 2, "attempt: %u", m->attempt);
    expect(strstr(m->errors, "exit 1") && strstr(m->errors, " 2"), "both: %s",
           m->errors);
    rig_settle(b, m, BROKER_DONE, .ran = true);
}

void again_uncounted_keeps_the_attempt(struct rig *r)
{
    struct broker *b = rig_open(r);

    rig_put(b, "a");
    for (uint32_t i = 1; i <= 3; i++) {
        struct queue_message *m = rig_take_one(b, true);
        expect(m->attempt == 0, "attempt: %u", m->attempt);
        expect(m->deliveries == i, "deliveries: %u", m->deliveries);
        rig_settle(b, m, BROKER_AGAIN, .counts = false, .ran = true);
    }
}

struct spread {
    int64_t first_ms;
    int in_second[64];
};

static bool sort_in(void *arg, const struct broker_row *row)
{
    struct spread *s = arg;
    int64_t second = (row->message->due_ms - row->now_ms) / 1000;

    if (second >= 0 && second < 64)
        s->in_second[second]++;
    return true;
}

/* 1 000 failed in one second, their waits drawn from 30 to 60 s: the broker
 * keeps them as they are, and nothing it does brings them together. */
void again_a_thousand_stay_spread(struct rig *r)
{
    struct broker *b = rig_open(r);
    struct broker_put p[100];
    struct queue_message *m[RIG_MOST];
    struct spread s = { 0 };
    int n = 0, seen = 0;
    size_t got;

    if (b->traits.blind)
        rig_skip("the broker cannot list what waits");
    memset(p, 0, sizeof p);
    for (int i = 0; i < 10; i++) {
        for (int j = 0; j < 100; j++)
            p[j].id = NULL;
        expect(b->kind->put(b, p, 100) == 0, "put: %s", b->error);
    }
    while ((got = rig_take(b, m, RIG_MOST)) > 0) {
        struct broker_end ends[RIG_MOST];
        memset(ends, 0, sizeof ends);
        for (size_t i = 0; i < got; i++)
            ends[i] = (struct broker_end){
                .message = m[i], .how = BROKER_AGAIN, .counts = true, .ran = true,
                .delay_ns = 30 * RIG_S + (n++ * INT64_C(7919) % 1000) * 30 * RIG_MS
            };
        expect(b->kind->settle(b, ends, got) == 0, "settle: %s", b->error);
        for (size_t i = 0; i < got; i++)
            queue_message_free(m[i]);
    }
    expect(n == 1000, "all of them: %d", n);
    expect(b->kind->each(b, &(struct broker_filter){ .id = NULL }, sort_in,
                         &s) == 0,
           "each: %s", b->error);
    for (int i = 0; i < 64; i++) {
        expect(s.in_second[i] <= 100, "%d in second %d", s.in_second[i], i);
        seen += s.in_second[i];
    }
    expect(seen == 1000, "all are listed as due then: %d", seen);
}

struct seen {
    int n;
    char reason[32], cls[32], errors[256], id[64], key[64];
    char tail[32];
    size_t tail_len;
    uint32_t attempt;
    enum broker_state state;
};

static bool see(void *arg, const struct broker_row *row)
{
    struct seen *s = arg;

    s->n++;
    snprintf(s->reason, sizeof s->reason, "%s", row->reason);
    snprintf(s->cls, sizeof s->cls, "%s", row->cls);
    snprintf(s->errors, sizeof s->errors, "%s", row->message->errors);
    snprintf(s->id, sizeof s->id, "%s", row->message->id);
    snprintf(s->key, sizeof s->key, "%s", row->message->key);
    s->tail_len = row->tail_len;
    if (row->tail_len)
        memcpy(s->tail, row->tail, row->tail_len < 32 ? row->tail_len : 32);
    s->attempt = row->message->attempt;
    s->state = row->state;
    return true;
}

static struct seen look(struct broker *b, struct broker_filter f)
{
    struct seen s;

    memset(&s, 0, sizeof s);
    expect(b->kind->each(b, &f, see, &s) == 0, "each: %s", b->error);
    return s;
}

static void bury_with(struct broker *b, const char *id, const char *key,
                      const char *reason)
{
    rig_put(b, id, .key = key);
    struct queue_message *m = rig_take_one(b, true);
    rig_settle(b, m, BROKER_DEAD, .counts = true, .ran = true,
               .error = "exit 65", .reason = reason, .cls = "permanent",
               .tail = "said\0it", .tail_len = 7);
}

static void bury(struct broker *b, const char *id, const char *reason)
{
    bury_with(b, id, rig_key(b, "k"), reason);
}

void dead_keeps_reason_errors_and_output(struct rig *r)
{
    struct broker *b = rig_open(r);

    bury(b, "a", "permanent");
    expect(rig_take_one(b, false) == NULL, "it is not given again");
    struct seen s = look(b, (struct broker_filter){ .dead = true });
    expect(s.n == 1 && s.state == BROKER_IS_DEAD, "one: %d", s.n);
    expect(strcmp(s.reason, "permanent") == 0, "reason: %s", s.reason);
    expect(strcmp(s.cls, "permanent") == 0, "class: %s", s.cls);
    expect(strstr(s.errors, "exit 65") != NULL, "errors: %s", s.errors);
    expect(s.attempt == 1, "attempts: %u", s.attempt);
    expect(s.tail_len == 7 && memcmp(s.tail, "said\0it", 7) == 0, "output");
    expect(strcmp(s.id, "a") == 0 &&
               strcmp(s.key, b->traits.has_keys ? "k" : "") == 0,
           "names");
    struct broker_counts c = rig_counts(b);
    expect(c.dead == 1 && strcmp(c.dead_by[0].reason, "permanent") == 0 &&
               c.dead_by[0].n == 1,
           "counted by reason");
}

void settle_twice_is_lost(struct rig *r)
{
    struct broker *b = rig_open(r);

    rig_put(b, "a");
    struct queue_message *m = rig_take_one(b, true);
    struct broker_end end = { .message = m, .how = BROKER_AGAIN, .ran = true };
    expect(b->kind->settle(b, &end, 1) == 0 && end.result == BROKER_SETTLED,
           "once");
    end.how = BROKER_DONE;
    expect(b->kind->settle(b, &end, 1) == 0 && end.result == BROKER_LOST,
           "it waits again: the old token is void");
    queue_message_free(m);
    m = rig_take_one(b, true);
    rig_settle(b, m, BROKER_DONE, .ran = true);
}

void settle_batch_of_all_kinds(struct rig *r)
{
    struct broker *b = rig_open(r);
    struct queue_message *m[6];
    struct broker_end ends[6];

    memset(ends, 0, sizeof ends);
    for (int i = 0; i < 6; i++)
        rig_put(b, NULL);
    expect(rig_take(b, m, 6) == 6, "six");
    for (int i = 0; i < 6; i++)
        ends[i] = (struct broker_end){ .message = m[i],
                                       .how = (enum broker_how)(i % 3),
                                       .counts = true,
                                       .ran = true,
                                       .delay_ns = 3600 * RIG_S,
                                       .reason = "attempts",
                                       .cls = "transient" };
    expect(b->kind->settle(b, ends, 6) == 0, "settle: %s", b->error);
    for (int i = 0; i < 6; i++) {
        expect(ends[i].result == BROKER_SETTLED, "each is settled");
        queue_message_free(m[i]);
    }
    struct broker_counts c = rig_counts(b);
    /* how a blind broker counts those that wait is its own affair */
    expect(b->traits.blind ? c.later + c.waiting == 2 && c.dead == 2
                           : c.later == 2 && c.dead == 2 && c.running == 0 &&
                                 c.waiting == 0,
           "later %d, dead %d", (int)c.later, (int)c.dead);
}

void redrive_starts_over_with_id_and_key(struct rig *r)
{
    struct broker *b = rig_open(r);
    const char *ids[] = { "a", "not there", "b" };
    size_t n = 0;

    bury(b, "a", "attempts");
    rig_put(b, "b"); /* alive */
    expect(b->kind->redrive(b, ids, 3, false, &n) == 0, "redrive: %s", b->error);
    expect(n == 1, "only the dead one: %zu", n);
    for (int i = 0; i < 2; i++) {
        struct queue_message *m = rig_take_one(b, true);
        if (strcmp(m->id, "a") == 0)
            expect(m->attempt == 0 && m->generation == 0 &&
                       strcmp(m->key, b->traits.has_keys ? "k" : "") == 0 &&
                       m->body[0] == 'a',
                   "as it was put");
        rig_settle(b, m, BROKER_DONE, .ran = true);
    }
    expect(rig_counts(b).dead == 0, "no longer dead");
    expect(b->kind->redrive(b, ids, 1, false, &n) == 0 && n == 0,
           "and not a second time");
}

void redrive_fresh_key_changes_the_generation(struct rig *r)
{
    struct broker *b = rig_open(r);
    const char *ids[] = { "a" };
    size_t n = 0;

    bury(b, "a", "attempts");
    expect(b->kind->redrive(b, ids, 1, true, &n) == 0 && n == 1, "redriven: %s",
           b->error);
    struct queue_message *m = rig_take_one(b, true);
    expect(m->generation == 1, "generation: %u", m->generation);
    rig_settle(b, m, BROKER_DONE, .ran = true);
}

/* What `redrive` decides by, after its first ten: what is not there any more was
 * done; what has failed says so. Asked by a process that takes nothing itself. */
static int state_of(struct broker *b, const char *id)
{
    struct seen s = look(b, (struct broker_filter){ .id = id });

    if (s.n == 0)
        s = look(b, (struct broker_filter){ .id = id, .dead = true });
    return s.n == 0 ? 'd' : s.attempt > 0 || s.state == BROKER_IS_DEAD ? 'f' : 'o';
}

static void wait_for_state(struct broker *b, const char *id, int state)
{
    int64_t end = rig_now() + PATIENCE_NS;

    while (state_of(b, id) != state) {
        expect(rig_now() < end, "%s: %c, not %c", id, state_of(b, id), state);
        rig_sleep(50 * RIG_MS);
    }
}

void redrive_sees_what_becomes_of_the_first(struct rig *r)
{
    static const char *const ids[] = { "done", "again", "dead", "free" };
    struct broker *b = rig_open(r), *redriver = rig_producer(r);
    size_t n = 0;

    for (int i = 0; i < 4; i++)
        bury_with(b, ids[i], NULL, "attempts");
    expect(redriver->kind->redrive(redriver, ids, 4, false, &n) == 0 && n == 4,
           "all are brought back: %zu %s", n, redriver->error);
    for (int i = 0; i < 4; i++)
        wait_for_state(redriver, ids[i], 'o');
    for (int i = 0; i < 4; i++) {
        struct queue_message *m = rig_take_one(b, true);
        const char *id = m->id;
        if (strcmp(id, "done") == 0)
            rig_settle(b, m, BROKER_DONE, .ran = true);
        else if (strcmp(id, "again") == 0)
            rig_settle(b, m, BROKER_AGAIN, .counts = true, .ran = true,
                       .delay_ns = 3600 * RIG_S);
        else if (strcmp(id, "free") == 0) /* the handler was away: neither */
            rig_settle(b, m, BROKER_AGAIN, .ran = true, .delay_ns = 3600 * RIG_S);
        else
            rig_settle(b, m, BROKER_DEAD, .counts = true, .ran = true,
                       .reason = "attempts", .cls = "transient");
    }
    wait_for_state(redriver, "done", 'd');
    wait_for_state(redriver, "again", 'f');
    wait_for_state(redriver, "dead", 'f');
    expect(state_of(redriver, "free") == 'o', "it has not failed");
}

static bool count_row(void *arg, const struct broker_row *row)
{
    (void)row;
    ++*(int *)arg;
    return true;
}

/* It is killed after some: each is dead still, or alive, and none both. */
void redrive_interrupted_loses_nothing(struct rig *r)
{
    struct broker *b = rig_open(r);
    int dead = 0, alive = 0;
    int64_t end = rig_now() + PATIENCE_NS;

    for (int i = 0; i < 4; i++) {
        char id[8];
        snprintf(id, sizeof id, "m%d", i);
        bury_with(b, id, NULL, "attempts");
    }
    struct broker *redriver = rig_producer(r);
    const char *first[] = { "m0", "m2" };
    size_t n = 0;
    expect(redriver->kind->redrive(redriver, first, 2, false, &n) == 0 && n == 2,
           "two are brought back: %s", redriver->error);
    rig_close(redriver);
    while (dead != 2) {
        dead = 0;
        expect(rig_now() < end, "two stay dead: %d", dead);
        expect(b->kind->each(b, &(struct broker_filter){ .dead = true },
                             count_row, &dead) == 0,
               "each: %s", b->error);
    }
    for (; alive < 2; alive++) {
        struct queue_message *m = rig_take_one(b, true);
        expect(strcmp(m->id, "m0") == 0 || strcmp(m->id, "m2") == 0, "not %s",
               m->id);
        rig_settle(b, m, BROKER_DONE, .ran = true);
    }
    expect(rig_take_one(b, false) == NULL, "and no more");
}

/* A worker that dies between begin() and commit() has done nothing. */
void commit_not_reached_undoes_all(struct rig *r)
{
    struct broker *b = rig_open(r), *other = rig_open(r);
    struct queue_message *m;

    if (!b->kind->begin)
        rig_skip("each verb is durable by itself");
    if (b->traits.partitioned)
        other = b; /* whose partition it is */
    rig_put(b, "a");
    m = rig_take_one(b, true);
    expect(b->kind->begin(b) == 0, "begin: %s", b->error);
    rig_put(b, "b");
    struct broker_end end = { .message = m, .how = BROKER_DONE, .ran = true };
    expect(b->kind->settle(b, &end, 1) == 0, "settle: %s", b->error);
    expect(b->kind->commit(b) == 0, "commit: %s", b->error);
    queue_message_free(m);
    m = rig_take_one(other, true);
    expect(strcmp(m->id, "b") == 0, "what was committed is there");
    rig_settle(other, m, BROKER_DONE, .ran = true);
    expect(rig_is_over(other, b), "and what was done is gone");
}

void counts_see_every_state(struct rig *r)
{
    struct broker *b = rig_open(r);

    rig_put(b, "r", .key = rig_key(b, "k")); /* the first: it runs */
    struct queue_message *m = rig_take_one(b, true);
    rig_put(b, "h", .key = rig_key(b, "k"));
    rig_put(b, "w");
    rig_put(b, "l", .delay_ns = 3600 * RIG_S);
    rig_sleep(30 * RIG_MS);
    struct broker_counts c = rig_counts(b);
    if (b->traits.blind)
        expect(c.waiting + c.held + c.later == 3, "three wait");
    else if (b->traits.has_keys)
        expect(c.waiting + c.held == 2, "waiting %d, held %d", (int)c.waiting,
               (int)c.held);
    expect(b->traits.blind || c.later == 1, "later %d", (int)c.later);
    expect(c.running == 1, "running %d", (int)c.running);
    if (b->traits.blind) {
        rig_settle(b, m, BROKER_DONE, .ran = true);
        return;
    }
    expect(c.oldest_ns > 0 && c.oldest_ns < PATIENCE_NS, "the oldest: %lld",
           (long long)c.oldest_ns);
    expect(c.next_ns > 3000 * RIG_S && c.next_ns <= 3600 * RIG_S, "next: %lld",
           (long long)c.next_ns);
    expect(c.workers >= 1, "workers: %d", (int)c.workers);
    struct seen s = look(b, (struct broker_filter){ .id = "r" });
    expect(s.n == 1 && s.state == BROKER_IS_RUNNING, "it runs");
    s = look(b, (struct broker_filter){ .id = "l" });
    expect(s.n == 1 && s.state == BROKER_IS_LATER, "it is for later");
    rig_settle(b, m, BROKER_DONE, .ran = true);
}

void each_finds_by_id_reason_and_time(struct rig *r)
{
    struct broker *b = rig_open(r);

    bury(b, "dead-1", "attempts");
    bury(b, "dead-2", "permanent");
    rig_put(b, "alive-1");
    expect(look(b, (struct broker_filter){ .dead = true }).n == 2, "two dead");
    if (!b->traits.blind)
        expect(look(b, (struct broker_filter){ .id = NULL }).n == 1, "one alive");
    struct seen s = look(
        b, (struct broker_filter){ .dead = true, .reason = "permanent" });
    expect(s.n == 1 && strcmp(s.id, "dead-2") == 0, "by reason: %s", s.id);
    s = look(b, (struct broker_filter){ .id = "al" });
    expect(b->traits.blind || (s.n == 1 && strcmp(s.id, "alive-1") == 0),
           "by its beginning: %s", s.id);
    expect(look(b, (struct broker_filter){ .dead = true, .id = "dead" }).n == 2,
           "both that begin like this");
    s = look(b, (struct broker_filter){ .dead = true, .id = "dead-1" });
    expect(s.n == 1 && strcmp(s.id, "dead-1") == 0, "by its id: %s", s.id);
    expect(look(b, (struct broker_filter){ .dead = true, .most = 1 }).n == 1,
           "at most one");
    expect(look(b, (struct broker_filter){ .dead = true, .until_ms = 1000 }).n ==
               0,
           "none died in 1970");
    expect(look(b, (struct broker_filter){ .dead = true, .since_ms = 1000 }).n ==
               2,
           "both since then");
}

static bool add_letter(void *arg, const struct broker_row *row)
{
    strncat(arg, row->message->id, 1);
    return true;
}

static void in_order(struct broker *b, const char *wanted)
{
    char found[16] = "";
    struct broker_filter f = { .most = 15 };

    expect(b->kind->each(b, &f, add_letter, found) == 0, "each: %s", b->error);
    expect(strcmp(found, wanted) == 0, "listed %s, not %s", found, wanted);
    f.most = 2;
    found[0] = '\0';
    expect(b->kind->each(b, &f, add_letter, found) == 0, "each: %s", b->error);
    expect(strlen(found) == 2 && strncmp(found, wanted, 2) == 0,
           "the first two: %s", found);
}

void each_is_in_the_order_of_turns(struct rig *r)
{
    struct broker *b = rig_open(r);

    if (b->traits.blind || b->traits.partitioned || !b->traits.has_priorities)
        rig_skip("what waits there has no one order");
    rig_put(b, "z");
    rig_put(b, "y");
    rig_put(b, "b", .priority = 5);
    rig_put(b, "a", .priority = 5);
    rig_put(b, "c", .priority = -5);
    in_order(b, "bazyc");
    struct queue_message *m = rig_take_one(b, true);
    in_order(b, "bazyc");
    if (strcmp(b->kind->name, "redis") != 0) { /* page by page, where they are */
        rig_put(b, "d", .priority = 9, .delay_ns = 3600 * RIG_S);
        rig_put(b, "e", .priority = 9);
        in_order(b, "beazycd");
    }
    rig_settle(b, m, BROKER_DONE, .ran = true);
}

static void note_name(void *arg, const char *name)
{
    char **found = arg;

    if (found[0] && strcmp(name, found[0]) == 0)
        found[1] = found[0];
}

void queue_that_is_not_there_is_named(struct rig *r)
{
    struct broker *b = rig_open(r), *none = NULL;
    struct broker_conf conf = r->conf;
    char why[BROKER_ERROR] = "";
    char *found[2] = { r->queue, NULL }, near[80];

    rig_put(b, "a");
    conf.queue = "mistyped";
    conf.create = false;
    expect(broker_open(&none, &conf, why) == BROKER_REFUSED, "refused: %s", why);
    expect(strstr(why, "mistyped") != NULL, "named: %s", why);
    if (b->kind->queues) {
        expect(b->kind->queues(b, note_name, found) == 0, "%s", b->error);
        expect(found[1] != NULL, "the one that exists is listed");
    }
    if (!b->kind->queues)
        return;
    snprintf(near, sizeof near, "x%s", r->queue);
    conf.queue = near;
    expect(broker_open(&none, &conf, why) == BROKER_REFUSED, "refused: %s", why);
    expect(strstr(why, "did you mean") != NULL, "the close one: %s", why);
}
