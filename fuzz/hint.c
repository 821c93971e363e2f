/* hint.c: lines of "name: value" as header fields.
 *
 * Whatever they say, a wait is never negative, and the order in which fields
 * come makes no difference. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "bide/hint.h"
#include "fuzz/fields.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int truth)
{
    if (!truth)
        abort();
}

static void check_hint(const bide_hint *hint)
{
    must(bide_hint_name(hint->source) != NULL);
    must(hint->source != BIDE_HINT_PROBLEM);
    must(hint->wait_ns >= 0);
    must(hint->source != BIDE_HINT_NONE || hint->wait_ns == 0);
    must(hint->rate_limit_only ==
         (hint->source >= BIDE_HINT_RATELIMIT_RESET));
}

static void check_fields(const bide_header *h, size_t n, int64_t wall_s)
{
    bide_hint ahead = BIDE_HINT_INIT, back = BIDE_HINT_INIT;

    for (size_t i = 0; i < n; i++) {
        bide_hint before = ahead;

        bide_hint_header(&ahead, &h[i], wall_s);
        check_hint(&ahead);
        must(ahead.refused || !before.refused);
        must(ahead.source != before.source ||
             ahead.wait_ns >= before.wait_ns);
    }
    for (size_t i = n; i > 0; i--)
        bide_hint_header(&back, &h[i - 1], wall_s);
    must(ahead.source == back.source && ahead.wait_ns == back.wait_ns);
    must(ahead.refused == back.refused);
    must(ahead.rate_limit_only == back.rate_limit_only);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t walls[] = { 0, 1, 784111777, 1767225600, INT64_MAX,
                                     INT64_MIN };
    bide_header fields[MAX_FIELDS];
    size_t n = all_fields(data, size, fields);

    for (size_t i = 0; i < sizeof walls / sizeof walls[0]; i++)
        check_fields(fields, n, walls[i]);
    return 0;
}
