/* baggage.c: bide's members of W3C baggage, read and written.
 *
 *   baggage: tenant=acme,bide.attempt=2,bide.max=4,bide.deadline=1767225601500
 *
 * Baggage is a list, separated by commas, of key=value with properties after
 * semicolons. Neither keys nor values nor properties can contain a comma
 * (w3.org/TR/baggage, 3.3.1), so members of others are copied without being
 * understood. Of our own, properties are ignored: some libraries drop them on
 * the way, so that nothing may depend on them. */
#include "lib/claim/baggage.h"

#include <string.h>

#include "lib/claim/claim.h"

/* The numbers that bide's members have; -1: there is none. */
struct own {
    int64_t attempt, max, deadline_ms;
};

static struct bide__text key_of(struct bide__text member)
{
    return bide__piece(&member, '=');
}

/* Case counts in keys. */
static bool is_key(struct bide__text key, const char *name)
{
    return key.len == strlen(name) && memcmp(key.at, name, key.len) == 0;
}

static int64_t *place_of(struct own *own, struct bide__text key)
{
    if (is_key(key, "bide.attempt"))
        return &own->attempt;
    if (is_key(key, "bide.max"))
        return &own->max;
    return is_key(key, "bide.deadline") ? &own->deadline_ms : NULL;
}

static bool is_own(struct bide__text member)
{
    struct own own;
    return place_of(&own, key_of(member)) != NULL;
}

/* ===== reading ===== */

static void read_member(struct own *own, struct bide__text member)
{
    struct bide__text value = member, key = bide__piece(&value, '=');
    int64_t *place = place_of(own, key), n;

    if (place && bide__read_integer(bide__piece(&value, ';'), 0, &n))
        *place = n;
}

void bide__baggage_read(bide_claim *claim, struct bide__text value,
                        int64_t wall_ms)
{
    struct own own = { -1, -1, -1 };
    if (value.len > BIDE_BAGGAGE_BYTES)
        return;
    for (int i = 0; i < BIDE_BAGGAGE_MEMBERS && value.len > 0; i++)
        read_member(&own, bide__piece(&value, ','));
    if (own.attempt > 0)
        bide__claim_offer(claim, BIDE_CLAIM_BAGGAGE, own.attempt,
                          own.max > 0 ? own.max : 0);
    if (own.deadline_ms > 0)
        bide__claim_until(claim, own.deadline_ms, wall_ms);
}

/* ===== writing ===== */

struct writer {
    char *to;
    size_t size, len; /* len may exceed size: what it would be */
    int members;
};

static void put(struct writer *w, const char *from, size_t len)
{
    if (w->len + len <= w->size)
        memcpy(w->to + w->len, from, len);
    w->len += len;
}

static void put_comma(struct writer *w)
{
    if (w->members++ > 0)
        put(w, ",", 1);
}

static void put_number(struct writer *w, const char *name, uint64_t n)
{
    char digits[20];
    size_t at = sizeof digits;

    put_comma(w);
    put(w, name, strlen(name));
    do {
        digits[--at] = (char)('0' + n % 10);
    } while ((n /= 10) != 0);
    put(w, digits + at, sizeof digits - at);
}

static void put_theirs(struct writer *w, const bide_header *field)
{
    struct bide__text value = bide__trim(field->value, field->value_len);
    while (value.len > 0) {
        struct bide__text member = bide__piece(&value, ',');
        if (member.len == 0 || is_own(member))
            continue;
        put_comma(w);
        put(w, member.at, member.len);
    }
}

static void put_claim(struct writer *w, const bide_claim *claim,
                      int64_t wall_ms)
{
    int64_t left_ms = bide_claim_left_ms(claim);
    if (claim->attempt)
        put_number(w, "bide.attempt=", claim->attempt);
    if (claim->attempt && claim->max)
        put_number(w, "bide.max=", claim->max);
    if (claim->left_ns != BIDE_FOREVER && wall_ms > 0 &&
        left_ms < INT64_MAX - wall_ms)
        put_number(w, "bide.deadline=", (uint64_t)(wall_ms + left_ms));
}

size_t bide_baggage_write(char *to, size_t size, const bide_header *theirs,
                          size_t n, const bide_claim *claim, int64_t wall_ms)
{
    struct writer w = { to, to ? size : 0, 0, 0 };
    for (size_t i = 0; i < n; i++)
        put_theirs(&w, &theirs[i]);
    if (!claim)
        return w.len;
    struct writer before = w;
    put_claim(&w, claim, wall_ms);
    if (w.len > BIDE_BAGGAGE_BYTES || w.members > BIDE_BAGGAGE_MEMBERS)
        return before.len; /* the fields have the claim all the same */
    return w.len;
}
