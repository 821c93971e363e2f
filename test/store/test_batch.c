/* Batches on a server that others use as well: the results are those of one
 * operation after the other, whatever changes between reading and writing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bide/policy.h"
#include "store/batch.h"

enum { KEYS = 6, ROOMS = 3, OPS = 12, ROUNDS = 4000 };

/* A record as a server has it, with an answer of its own. */
struct kept {
    bool there;
    uint64_t version;
    struct bide__store_record record;
    char room[8], answer[16];
};

struct world {
    struct kept kept[KEYS];
    int64_t now_ns;
    unsigned seed;
    int others;   /* of 100 slots, how many others change before they are written */
    int conflicts, writes;
};

static const char *const keys[KEYS] = { "a", "b", "c", "d", "e", "f" };
static const char *const rooms[ROOMS] = { "r", "s", "t" };

static struct kept *find(struct world *w, const char *key)
{
    return &w->kept[key[0] - 'a'];
}

static uint64_t used_by(const struct world *w, const char *room)
{
    uint64_t used = 0;

    for (int i = 0; i < KEYS; i++)
        used += w->kept[i].there && (!room || !strcmp(w->kept[i].room, room))
                    ? w->kept[i].record.bytes
                    : 0;
    return used;
}

static void keep(struct kept *k, const struct bide__store_record *now,
                 const char *room)
{
    char answer[sizeof k->answer] = "";

    if (now->len > 0)
        memcpy(answer, now->data, now->len);
    memcpy(k->answer, answer, sizeof answer);
    if (room != k->room)
        snprintf(k->room, sizeof k->room, "%s", room);
    k->record = *now;
    k->record.data = k->answer;
    k->there = true;
}

/* ===== the server ===== */

static int read_slots(void *arg, struct bide__batch *batch,
                      struct bide__slot *const slots[], size_t n)
{
    struct world *w = arg;

    for (size_t i = 0; i < n; i++) {
        struct kept *k = find(w, slots[i]->op->key);
        slots[i]->there = k->there;
        slots[i]->version = k->version;
        slots[i]->was = k->record;
        slots[i]->was_room = k->room;
        slots[i]->was_used = used_by(w, k->room);
        slots[i]->asked_used = used_by(w, slots[i]->op->room);
    }
    batch->total_bytes = used_by(w, NULL);
    batch->now_ns = w->now_ns;
    return 0;
}

static int write_slots(void *arg, struct bide__batch *batch,
                       struct bide__slot *const slots[], size_t n)
{
    struct world *w = arg;

    (void)batch;
    for (size_t i = 0; i < n; i++) {
        struct kept *k = find(w, slots[i]->op->key);
        if (rand_r(&w->seed) % 100 < w->others) {
            w->conflicts++;
            k->version += 2; /* somebody renewed it, say */
            continue;
        }
        assert_true(k->there == slots[i]->there);
        if (k->there)
            assert_true(k->version == slots[i]->version);
        if (slots[i]->is)
            keep(k, &slots[i]->now, slots[i]->room);
        else
            k->there = false;
        k->version = slots[i]->new_version;
        slots[i]->written = true;
        w->writes++;
    }
    return 0;
}

static const struct bide__batch_io io = { read_slots, write_slots };

/* ===== the same, one after the other ===== */

static void do_one(struct world *w, bide_store_op *op, uint64_t limit)
{
    struct kept *k = find(w, op->key);
    const char *room =
        k->there && op->verb != BIDE_STORE_CLAIM ? k->room : op->room;
    struct bide__store_space space = { limit, used_by(w, NULL),
                                       used_by(w, room) };
    struct bide__store_record next;

    switch (bide__store_rule(op, k->there ? &k->record : NULL, &next, space,
                             w->now_ns)) {
    case BIDE__STORE_LEAVE:
        break;
    case BIDE__STORE_INSERT:
        keep(k, &next, op->room);
        break;
    case BIDE__STORE_UPDATE:
        keep(k, &next, k->room);
        break;
    case BIDE__STORE_REMOVE:
        k->there = false;
        break;
    }
}

static bide_store_op draw(unsigned *seed)
{
    static const char *const answers[] = { "", "yes", "no" };
    bide_store_op op = BIDE_STORE_OP_INIT;

    op.verb = (bide_store_verb)(rand_r(seed) % 5);
    op.key = keys[rand_r(seed) % KEYS];
    op.room = rooms[rand_r(seed) % ROOMS];
    op.token = (uint64_t)(rand_r(seed) % 4) + 1;
    op.fingerprint[0] = rand_r(seed) % 8 == 0;
    op.lease_ns = rand_r(seed) % 3 + 1;
    op.keep_ns = rand_r(seed) % 12 + 1;
    op.take_over = rand_r(seed) % 2;
    op.too_large = rand_r(seed) % 8 == 0;
    op.status = 200 + rand_r(seed) % 3;
    op.data = answers[rand_r(seed) % 3];
    op.len = strlen(op.data);
    return op;
}

static void is_the_same(const bide_store_op *a, const bide_store_op *b)
{
    assert_int_equal(a->result, b->result);
    if (a->result == BIDE_STORE_DONE) {
        assert_int_equal(a->status, b->status);
        assert_int_equal(a->len, b->len);
        assert_memory_equal(a->data, b->data, a->len);
    }
    if (a->result == BIDE_STORE_IN_PROGRESS)
        assert_int_equal(a->left_ns, b->left_ns);
}

static void compare(int others, uint64_t limit)
{
    struct world served = { .now_ns = 1, .seed = 7, .others = others };
    struct world plain = { .now_ns = 1 };
    struct bide__batch batch = { .limit_bytes = limit };
    unsigned seed = 11;

    for (int round = 0; round < ROUNDS; round++) {
        bide_store_op a[OPS], b[OPS], *list[OPS];
        size_t n = (size_t)(rand_r(&seed) % (OPS + 1));
        for (size_t i = 0; i < n; i++) {
            a[i] = b[i] = draw(&seed);
            list[i] = &a[i];
        }
        assert_int_equal(bide__batch_run(&batch, list, n, &io, &served), 0);
        for (size_t i = 0; i < n; i++) {
            do_one(&plain, &b[i], limit);
            is_the_same(&a[i], &b[i]);
            free(a[i]._answer);
        }
        served.now_ns = ++plain.now_ns;
    }
    for (int i = 0; i < KEYS; i++) {
        assert_true(served.kept[i].there == plain.kept[i].there);
        if (plain.kept[i].there)
            assert_string_equal(served.kept[i].room, plain.kept[i].room);
    }
    assert_int_equal(used_by(&served, NULL), used_by(&plain, NULL));
    print_message("# %d writes, %d conflicts\n", served.writes, served.conflicts);
    assert_true(served.writes > ROUNDS / 4);
    assert_true((served.conflicts > ROUNDS / 20) == (others > 0));
    bide__batch_done(&batch);
}

static void batch_is_one_operation_after_the_other(void **state)
{
    (void)state;
    compare(0, UINT64_C(1) << 30);
}

static void batch_is_that_when_others_write_too(void **state)
{
    (void)state;
    compare(40, UINT64_C(1) << 30);
}

static void batch_names_are_told_apart(void **state)
{
    (void)state;
    uint8_t a[32], b[32];

    bide__slot_id(a, "ab", "", "c");
    bide__slot_id(b, "a", "b", "c");
    assert_memory_not_equal(a, b, 32);
    bide__slot_id(b, "ab", "c", "");
    assert_memory_not_equal(a, b, 32);
    bide__slot_id(b, "ab", "", "c");
    assert_memory_equal(a, b, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batch_is_one_operation_after_the_other),
        cmocka_unit_test(batch_is_that_when_others_write_too),
        cmocka_unit_test(batch_names_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
