/* What becomes of a record: a function for each verb, and nothing else. */
#include "store/rule.h"

#include <string.h>

enum { FLAT_BYTES = 256 }; /* of a record, beside its texts and its answer */

uint64_t bide__store_bytes(const bide_store_op *claim)
{
    return FLAT_BYTES + strlen(claim->scope) + strlen(claim->owner) +
           strlen(claim->key) + strlen(claim->room);
}

int64_t bide__store_after(int64_t now_ns, int64_t ns)
{
    return ns > INT64_MAX - now_ns ? INT64_MAX : now_ns + ns;
}

static int64_t later_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A caller may have as much as is left for the others: alone he gets half of it
 * all, two get a third each, and whoever comes new always finds some. */
static bool fits(struct bide__store_space space, uint64_t more)
{
    uint64_t left = space.limit > space.total ? space.limit - space.total : 0;
    return space.used <= left && more <= left - space.used;
}

static void lend(const bide_store_op *op, struct bide__store_record *record,
                 int64_t now_ns)
{
    record->state = BIDE__STORE_CLAIMED;
    record->token = op->token;
    record->lease_until_ns = bide__store_after(now_ns, op->lease_ns);
    record->expires_ns = later_of(bide__store_after(now_ns, op->keep_ns),
                                  record->lease_until_ns);
}

static enum bide__store_change first(bide_store_op *op,
                                     struct bide__store_record *ret,
                                     struct bide__store_space space,
                                     int64_t now_ns)
{
    uint64_t bytes = bide__store_bytes(op);
    if (!fits(space, bytes)) {
        op->result = BIDE_STORE_FULL;
        return BIDE__STORE_LEAVE;
    }
    *ret = (struct bide__store_record){ .created_ns = now_ns, .bytes = bytes };
    memcpy(ret->fingerprint, op->fingerprint, sizeof ret->fingerprint);
    memcpy(ret->binding, op->binding, sizeof ret->binding);
    lend(op, ret, now_ns);
    op->result = BIDE_STORE_FIRST;
    return BIDE__STORE_INSERT;
}

/* What somebody who is not its owner is told. */
static void tell(bide_store_op *op, const struct bide__store_record *found,
                 int64_t now_ns)
{
    op->age_ns = now_ns - found->created_ns;
    op->status = found->status;
    switch (found->state) {
    case BIDE__STORE_KEPT:
        op->result = BIDE_STORE_DONE;
        op->data = found->data;
        op->len = found->len;
        break;
    case BIDE__STORE_BIG:
        op->result = BIDE_STORE_TOO_LARGE;
        break;
    case BIDE__STORE_CLAIMED:
        op->left_ns = later_of(found->lease_until_ns - now_ns, 0);
        op->result = op->left_ns > 0 ? BIDE_STORE_IN_PROGRESS
                                     : BIDE_STORE_UNKNOWN;
        break;
    }
}

static enum bide__store_change claim(bide_store_op *op,
                                     const struct bide__store_record *found,
                                     struct bide__store_record *ret,
                                     int64_t now_ns)
{
    if (memcmp(found->fingerprint, op->fingerprint, 32) != 0 ||
        memcmp(found->binding, op->binding, 32) != 0) {
        op->result = BIDE_STORE_MISMATCH;
        return BIDE__STORE_LEAVE;
    }
    bool ours = found->state == BIDE__STORE_CLAIMED && found->token == op->token;
    tell(op, found, now_ns);
    if (!ours && !(op->take_over && op->result == BIDE_STORE_UNKNOWN))
        return BIDE__STORE_LEAVE;
    *ret = *found;
    lend(op, ret, now_ns);
    op->result = BIDE_STORE_FIRST;
    return BIDE__STORE_UPDATE;
}

static enum bide__store_change renew(bide_store_op *op,
                                     const struct bide__store_record *found,
                                     struct bide__store_record *ret,
                                     int64_t now_ns)
{
    if (found->token != op->token || found->state != BIDE__STORE_CLAIMED) {
        op->result = BIDE_STORE_LOST;
        return BIDE__STORE_LEAVE;
    }
    *ret = *found;
    ret->lease_until_ns = bide__store_after(now_ns, op->lease_ns);
    ret->expires_ns = later_of(ret->expires_ns, ret->lease_until_ns);
    op->result = BIDE_STORE_OK;
    return BIDE__STORE_UPDATE;
}

/* Completing twice is what happens when an acknowledgement was lost. */
static enum bide__store_change complete(bide_store_op *op,
                                        const struct bide__store_record *found,
                                        struct bide__store_record *ret,
                                        struct bide__store_space space,
                                        int64_t now_ns)
{
    if (found->token != op->token) {
        op->result = BIDE_STORE_LOST;
        return BIDE__STORE_LEAVE;
    }
    op->result = BIDE_STORE_OK;
    if (found->state != BIDE__STORE_CLAIMED)
        return BIDE__STORE_LEAVE;
    *ret = *found;
    ret->state = BIDE__STORE_KEPT;
    ret->status = op->status;
    ret->expires_ns = bide__store_after(now_ns, op->keep_ns);
    if (op->too_large || (op->len > 0 && !fits(space, op->len))) {
        op->result = op->too_large ? BIDE_STORE_OK : BIDE_STORE_TOO_LARGE;
        ret->state = BIDE__STORE_BIG;
        return BIDE__STORE_UPDATE;
    }
    ret->data = op->data;
    ret->len = op->len;
    ret->bytes += op->len;
    return BIDE__STORE_UPDATE;
}

static enum bide__store_change release(bide_store_op *op,
                                       const struct bide__store_record *found)
{
    bool ours = found->token == op->token &&
                found->state == BIDE__STORE_CLAIMED;
    op->result = ours ? BIDE_STORE_OK : BIDE_STORE_LOST;
    return ours ? BIDE__STORE_REMOVE : BIDE__STORE_LEAVE;
}

static enum bide__store_change absent(bide_store_op *op,
                                      struct bide__store_record *ret,
                                      struct bide__store_space space,
                                      int64_t now_ns)
{
    switch (op->verb) {
    case BIDE_STORE_CLAIM:
        return first(op, ret, space, now_ns);
    case BIDE_STORE_LOOK_UP:
        op->result = BIDE_STORE_ABSENT;
        break;
    case BIDE_STORE_RELEASE:
        op->result = BIDE_STORE_OK;
        break;
    case BIDE_STORE_RENEW:
    case BIDE_STORE_COMPLETE:
        op->result = BIDE_STORE_LOST;
        break;
    }
    return BIDE__STORE_LEAVE;
}

enum bide__store_change bide__store_rule(bide_store_op *op,
                                         const struct bide__store_record *found,
                                         struct bide__store_record *ret,
                                         struct bide__store_space space,
                                         int64_t now_ns)
{
    if (found && found->expires_ns <= now_ns) {
        space.total -= found->bytes < space.total ? found->bytes : space.total;
        found = NULL;
    }
    if (!found)
        return absent(op, ret, space, now_ns);
    switch (op->verb) {
    case BIDE_STORE_CLAIM:
        return claim(op, found, ret, now_ns);
    case BIDE_STORE_RENEW:
        return renew(op, found, ret, now_ns);
    case BIDE_STORE_COMPLETE:
        return complete(op, found, ret, space, now_ns);
    case BIDE_STORE_RELEASE:
        return release(op, found);
    case BIDE_STORE_LOOK_UP:
        tell(op, found, now_ns);
        break;
    }
    return BIDE__STORE_LEAVE;
}

bool bide__store_at_rest(const struct bide__store_record *record,
                         int64_t now_ns)
{
    return record->state != BIDE__STORE_CLAIMED ||
           record->lease_until_ns <= now_ns;
}
