/* Read, decide, write; and again for what has changed in between. */
#include "store/batch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/sha256.h"
#include "bide/policy.h"

/* What a caller's records take, with what this batch has changed. */
struct bide__batch_share {
    const char *room;
    uint64_t used;
};

void bide__slot_id(uint8_t id[32], const char *scope, const char *owner,
                   const char *key)
{
    const char *texts[] = { scope, owner, key };
    struct bide__sha256 sum;

    bide__sha256_init(&sum);
    for (int i = 0; i < 3; i++) /* with its NUL: no two names read alike */
        bide__sha256_add(&sum, texts[i], strlen(texts[i]) + 1);
    bide__sha256_end(&sum, id);
}

int64_t bide__batch_patience(int64_t timeout_ns)
{
    return timeout_ns > BIDE_SECOND / 4 ? 4 * timeout_ns : BIDE_SECOND;
}

/* ===== memory, which is kept from batch to batch ===== */

static size_t table_size(const struct bide__batch *b)
{
    return 4 * b->size; /* of slots one half, of shares another */
}

static void forget(struct bide__batch *b)
{
    free(b->slots);
    free(b->open);
    free(b->dirty);
    free(b->next);
    free(b->table);
    free(b->shares);
    b->slots = NULL;
    b->open = b->dirty = NULL;
    b->next = b->table = NULL;
    b->shares = NULL;
    b->size = 0;
}

void bide__batch_done(struct bide__batch *b)
{
    forget(b);
}

static bool make_room(struct bide__batch *b, size_t n)
{
    if (n <= b->size)
        return true;
    forget(b);
    size_t size = 64;
    while (size < n)
        size *= 2;
    b->slots = calloc(size, sizeof *b->slots);
    b->open = calloc(size, sizeof(struct bide__slot *));
    b->dirty = calloc(size, sizeof(struct bide__slot *));
    b->next = calloc(size, sizeof *b->next);
    b->table = calloc(4 * size, sizeof *b->table);
    b->shares = calloc(2 * size, sizeof *b->shares);
    if (!b->slots || !b->open || !b->dirty || !b->next || !b->table ||
        !b->shares) {
        forget(b);
        return false;
    }
    b->size = size;
    return true;
}

static void clear_table(struct bide__batch *b)
{
    if (b->size > 0)
        memset(b->table, 0, table_size(b) * sizeof *b->table);
}

/* ===== which operations are about which record ===== */

static struct bide__slot *find_slot(struct bide__batch *b,
                                    const uint8_t id[32])
{
    size_t mask = table_size(b) - 1, at;

    memcpy(&at, id, sizeof at);
    for (at &= mask; b->table[at] != 0; at = (at + 1) & mask) {
        struct bide__slot *slot = &b->slots[b->table[at] - 1];
        if (memcmp(slot->id, id, 32) == 0)
            return slot;
    }
    struct bide__slot *slot = &b->slots[b->n_slots++];
    b->table[at] = b->n_slots;
    *slot = (struct bide__slot){ .first_op = SIZE_MAX };
    memcpy(slot->id, id, 32);
    return slot;
}

/* Backwards, so that each slot's list comes out in the order of the batch. */
static void sort_into_slots(struct bide__batch *b, bide_store_op *const ops[],
                            size_t n)
{
    b->n_slots = b->n_open = 0;
    clear_table(b);
    for (size_t i = n; i-- > 0;) {
        uint8_t id[32];
        bide__slot_id(id, ops[i]->scope, ops[i]->owner, ops[i]->key);
        struct bide__slot *slot = find_slot(b, id);
        b->next[i] = slot->first_op;
        slot->first_op = i;
        if (!slot->op || ops[i]->verb == BIDE_STORE_CLAIM ||
            slot->op->verb != BIDE_STORE_CLAIM)
            slot->op = ops[i];
    }
    for (size_t i = b->n_slots; i-- > 0;)
        b->open[b->n_open++] = &b->slots[i];
}

/* ===== deciding ===== */

static struct bide__batch_share *find_share(struct bide__batch *b,
                                            const char *room, uint64_t used)
{
    size_t mask = table_size(b) - 1, at = 2166136261u;

    for (const char *c = room; *c; c++)
        at = (at ^ (unsigned char)*c) * 16777619u;
    for (at &= mask; b->table[at] != 0; at = (at + 1) & mask) {
        struct bide__batch_share *share = &b->shares[b->table[at] - 1];
        if (strcmp(share->room, room) == 0)
            return share;
    }
    struct bide__batch_share *share = &b->shares[b->n_shares];
    if (b->n_shares < 2 * b->size)
        b->table[at] = ++b->n_shares;
    *share = (struct bide__batch_share){ room, used };
    return share;
}

static void gather_shares(struct bide__batch *b)
{
    b->n_shares = 0;
    clear_table(b);
    for (size_t i = 0; i < b->n_open; i++) {
        const struct bide__slot *slot = b->open[i];
        find_share(b, slot->op->room, slot->asked_used);
        if (slot->there)
            find_share(b, slot->was_room, slot->was_used);
    }
}

static uint64_t less(uint64_t from, uint64_t bytes)
{
    return from > bytes ? from - bytes : 0;
}

/* The slot as the operations so far have left it: `is`, `now`, `room`. */
static void change(struct bide__batch *b, struct bide__slot *slot, bool is,
                   const struct bide__store_record *now, const char *room)
{
    if (slot->is) {
        struct bide__batch_share *old = find_share(b, slot->room, 0);
        old->used = less(old->used, slot->now.bytes);
        b->total_bytes = less(b->total_bytes, slot->now.bytes);
    }
    if (is) {
        find_share(b, room, 0)->used += now->bytes;
        b->total_bytes += now->bytes;
        slot->now = *now;
    }
    slot->is = is;
    slot->room = room;
    slot->dirty = true;
}

static void decide(struct bide__batch *b, struct bide__slot *slot,
                   bide_store_op *const ops[])
{
    slot->is = slot->there;
    slot->now = slot->was;
    slot->room = slot->was_room;
    slot->dirty = slot->written = slot->full = false;
    for (size_t i = slot->first_op; i != SIZE_MAX; i = b->next[i]) {
        bool claim = ops[i]->verb == BIDE_STORE_CLAIM;
        const char *room = slot->is && !claim ? slot->room : ops[i]->room;
        struct bide__store_space space = { b->limit_bytes, b->total_bytes,
                                           find_share(b, room, 0)->used };
        struct bide__store_record next;
        switch (bide__store_rule(ops[i], slot->is ? &slot->now : NULL, &next,
                                 space, b->now_ns)) {
        case BIDE__STORE_LEAVE:
            break;
        case BIDE__STORE_INSERT:
            change(b, slot, true, &next, ops[i]->room);
            break;
        case BIDE__STORE_UPDATE:
            change(b, slot, true, &next, slot->room);
            break;
        case BIDE__STORE_REMOVE:
            change(b, slot, false, NULL, NULL);
            break;
        }
    }
    if (!slot->there && !slot->is)
        slot->dirty = false; /* came and went */
}

/* ===== reporting ===== */

/* The answer is the reply's, or another operation's: the client gets a copy. */
static bool copy_answer(bide_store_op *op)
{
    if (op->result != BIDE_STORE_DONE)
        return true;
    op->_answer = malloc(op->len ? op->len : 1);
    if (!op->_answer)
        return false;
    if (op->len > 0)
        memcpy(op->_answer, op->data, op->len);
    op->data = op->_answer;
    return true;
}

static bool settle(struct bide__batch *b, const struct bide__slot *slot,
                   bide_store_op *const ops[])
{
    bool ok = true;

    for (size_t i = slot->first_op; i != SIZE_MAX; i = b->next[i]) {
        if (slot->full && ops[i]->verb == BIDE_STORE_CLAIM)
            ops[i]->result = BIDE_STORE_FULL;
        else
            ok = copy_answer(ops[i]) && ok;
    }
    return ok;
}

/* ===== the rounds ===== */

static void new_versions(struct bide__slot *const slots[], size_t n)
{
    uint64_t drawn;

    for (size_t i = 0; i < n; i++) {
        if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
            drawn = slots[i]->version + 1;
        slots[i]->new_version = drawn | 1;
    }
}

static int round_trip(struct bide__batch *b, bide_store_op *const ops[],
                      const struct bide__batch_io *io, void *self)
{
    size_t n_dirty = 0, n_left = 0;
    int rc = io->read(self, b, b->open, b->n_open);

    if (rc < 0)
        return rc;
    gather_shares(b);
    for (size_t i = 0; i < b->n_open; i++) {
        decide(b, b->open[i], ops);
        if (b->open[i]->dirty)
            b->dirty[n_dirty++] = b->open[i];
    }
    new_versions(b->dirty, n_dirty);
    if (n_dirty > 0 && (rc = io->write(self, b, b->dirty, n_dirty)) < 0)
        return rc;
    for (size_t i = 0; i < b->n_open; i++) {
        struct bide__slot *slot = b->open[i];
        if (slot->dirty && !slot->written && !slot->full)
            b->open[n_left++] = slot;
        else if (!settle(b, slot, ops))
            return BIDE_ENOMEM;
    }
    b->n_open = n_left;
    return 0;
}

int bide__batch_run(struct bide__batch *b, bide_store_op *const ops[], size_t n,
                    const struct bide__batch_io *io, void *self)
{
    int rc;

    if (!make_room(b, n > 0 ? n : 1))
        return BIDE_ENOMEM;
    sort_into_slots(b, ops, n);
    do
        rc = round_trip(b, ops, io, self);
    while (rc == 0 && b->n_open > 0);
    return rc;
}
