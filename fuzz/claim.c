/* claim.c: lines of "name: value" as the header fields of a request.
 *
 * Whatever they say, a claim is one that bide could have made, the order in
 * which fields come makes no difference, trusting nobody never reads more, and
 * baggage that is written again has the members of others and one claim. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "bide/claim.h"
#include "fuzz/fields.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const bide_trust_conf everybody = { true, true, true };

static void must(int truth)
{
    if (!truth)
        abort();
}

static void check_claim(const bide_claim *c)
{
    must(c->left_ns >= 0);
    must((c->attempt == 0) == (c->source == BIDE_CLAIM_NONE));
    must(c->max == 0 || (c->max > 1 && c->attempt <= c->max));
    must(c->attempt != 0 || c->max == 0);
    must(bide_claim_source_name(c->source) != NULL);
    must(bide_claim_left_ms(c) >= 0);
}

static void check_order(const bide_header *h, size_t n,
                        const bide_trust_conf *trust, int64_t wall_ms)
{
    bide_claim ahead = BIDE_CLAIM_INIT, back = BIDE_CLAIM_INIT;
    for (size_t i = 0; i < n; i++) {
        int64_t before = ahead.left_ns;
        bide_claim_header(&ahead, &h[i], trust, wall_ms);
        check_claim(&ahead);
        must(ahead.left_ns <= before);
    }
    for (size_t i = n; i > 0; i--)
        bide_claim_header(&back, &h[i - 1], trust, wall_ms);
    must(ahead.attempt == back.attempt && ahead.max == back.max);
    must(ahead.left_ns == back.left_ns && ahead.source == back.source);
    bide_op op = { .deadline_ns = 5 };
    bide_claim_apply(&ahead, &op, 3);
    must(op.deadline_ns > 0 && op.deadline_ns <= 5);
}

static void check_trust(const bide_header *h, size_t n, int64_t wall_ms)
{
    bide_claim few = BIDE_CLAIM_INIT, all = BIDE_CLAIM_INIT;
    for (size_t i = 0; i < n; i++) {
        bide_claim_header(&few, &h[i], NULL, wall_ms);
        bide_claim_header(&all, &h[i], &everybody, wall_ms);
    }
    must(all.source >= few.source && all.left_ns <= few.left_ns);
    must(few.source == BIDE_CLAIM_NONE || few.source >= BIDE_CLAIM_BAGGAGE);
}

/* The values are read as baggage, whatever their names. */
static void check_baggage(const bide_header *h, size_t n)
{
    static const bide_claim claim = { 2, 4, BIDE_FOREVER, BIDE_CLAIM_HEADER };
    size_t theirs = bide_baggage_write(NULL, 0, h, n, NULL, 0);
    size_t len = bide_baggage_write(NULL, 0, h, n, &claim, 0);
    char *text = malloc(len + 1);
    must(text && len >= theirs && len <= theirs + BIDE_BAGGAGE_OWN + 1);
    must(bide_baggage_write(text, len, h, n, &claim, 0) == len);
    bide_header again = { "baggage", 7, text, len };
    bide_claim got = BIDE_CLAIM_INIT;
    bide_claim_header(&got, &again, NULL, 0);
    must(got.attempt == (len > theirs ? 2 : 0) || len > BIDE_BAGGAGE_BYTES);
    must(bide_baggage_write(NULL, 0, &again, 1, NULL, 0) == theirs);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t walls[] = { 0, 1, INT64_C(1767225600000), INT64_MAX,
                                     INT64_MIN };
    bide_header fields[MAX_FIELDS];
    size_t n = all_fields(data, size, fields);

    for (size_t i = 0; i < sizeof walls / sizeof walls[0]; i++) {
        check_order(fields, n, NULL, walls[i]);
        check_order(fields, n, &everybody, walls[i]);
        check_trust(fields, n, walls[i]);
    }
    check_baggage(fields, n);
    return 0;
}
