/* hint.c: header fields in which a server says when to retry, or not to.
 *
 * Each field is a row: its name, and the function that reads its value into a
 * wait. Readers are strict, since a value that is half understood is worse than
 * none: an invalid value changes nothing, and the computed backoff applies. The
 * one exception is gRPC's pushback, where the standard (A6) treats an
 * unreadable value as "do not retry".
 *
 * Taking in hints is commutative, so the order of fields never matters. */
#include "lib/response/hint.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bide/backoff.h"
#include "bide/policy.h"
#include "lib/ascii.h"

#define MS_PER_S 1000

/* Scales of bide__read_decimal(): powers of ten. */
enum { MS_TO_NS = 6, S_TO_NS = 9, S_TO_MS = 3 };

static const char *const names[] = {
#define X(name, key) key,
    BIDE_HINTS(X)
#undef X
};

#define N_SOURCES (sizeof names / sizeof names[0])

const char *bide_hint_name(bide_hint_source source)
{
    return (size_t)source < N_SOURCES ? names[source] : NULL;
}

void bide__hint_offer(bide_hint *hint, bide_hint_source source, int64_t wait_ns)
{
    if (hint->source == source && wait_ns <= hint->wait_ns)
        return;
    if (hint->source != BIDE_HINT_NONE && hint->source < source)
        return;
    hint->source = source;
    hint->wait_ns = wait_ns;
    hint->exact = source == BIDE_HINT_GRPC_PUSHBACK;
    hint->rate_limit_only = source == BIDE_HINT_RATELIMIT ||
                            source == BIDE_HINT_RATELIMIT_RESET ||
                            source == BIDE_HINT_X_RATELIMIT_RESET;
}

/* The wait from `wall_s` to an instant; none if that has passed. The instant is
 * a date up to year 10000, and wall_s is positive: only the last step can
 * overflow. */
static int64_t until_ms(int64_t instant_ms, int64_t wall_s)
{
    const int64_t ns_per_ms = 1000000;
    int64_t ms;

    if (instant_ms / MS_PER_S < wall_s)
        return 0;
    ms = instant_ms - wall_s * MS_PER_S;
    return ms > INT64_MAX / ns_per_ms ? INT64_MAX : ms * ns_per_ms;
}

static bool read_seconds_or_date(struct bide__text value, int64_t wall_s,
                                 int64_t *ret_ns)
{
    int64_t date_s;

    if (bide__read_integer(value, S_TO_NS, ret_ns))
        return true;
    if (wall_s <= 0 || bide_http_date(value.at, value.len, wall_s, &date_s) < 0)
        return false;
    *ret_ns = until_ms(date_s * MS_PER_S, wall_s);
    return true;
}

static bool read_ms(struct bide__text value, int64_t wall_s, int64_t *ret_ns)
{
    (void)wall_s;
    return bide__read_decimal(value, MS_TO_NS, ret_ns);
}

/* A pushback of 0 means now, and not "as computed" as a date in the past does. */
static bool read_pushback(struct bide__text value, int64_t wall_s,
                          int64_t *ret_ns)
{
    (void)wall_s;
    if (!bide__read_integer(value, MS_TO_NS, ret_ns))
        return false;
    *ret_ns += *ret_ns == 0;
    return true;
}

/* There is no standard for this field. Below 1e9 it is a number of seconds, up
 * to 31 years; from there to 1e11 it is an instant in seconds since 1970; above
 * that in milliseconds, until those leave the year 9999 and it is only a very
 * large number, which means: not in your lifetime. */
static bool read_reset(struct bide__text value, int64_t wall_s, int64_t *ret_ns)
{
    const int64_t epoch_from_ns = INT64_C(1000000000000000000);
    const int64_t ms_from = INT64_C(100000000000);
    const int64_t last_ms = INT64_C(253402300799999);
    int64_t ns, whole, instant_ms;

    if (!bide__read_decimal(value, S_TO_NS, &ns) ||
        !bide__read_decimal(value, S_TO_MS, &instant_ms) ||
        !bide__read_decimal(value, 0, &whole))
        return false;
    if (ns < epoch_from_ns) {
        *ret_ns = ns;
        return true;
    }
    if (instant_ms >= ms_from * MS_PER_S)
        instant_ms = whole;
    if (instant_ms > last_ms) {
        *ret_ns = INT64_MAX;
        return true;
    }
    if (wall_s <= 0)
        return false;
    *ret_ns = until_ms(instant_ms, wall_s);
    return true;
}

/* ===== RateLimit, a list of structured items: "burst";r=0;t=1, "day";r=7;t=99
 *
 * A quota with nothing left (r=0) says when it is filled again (t, in seconds).
 * Of several that are empty the last one to be filled counts. ===== */

/* The text up to `stop`, quoted strings kept whole; *rest is what follows. */
static struct bide__text up_to(struct bide__text text, char stop,
                               struct bide__text *rest)
{
    bool quoted = false;
    size_t n = 0;
    for (; n < text.len && (quoted || text.at[n] != stop); n++) {
        if (quoted && text.at[n] == '\\' && n + 1 < text.len)
            n++;
        else if (text.at[n] == '"')
            quoted = !quoted;
    }
    size_t skip = n < text.len ? n + 1 : n;
    *rest = (struct bide__text){ text.at + skip, text.len - skip };
    return bide__trim(text.at, n);
}

/* Whether a parameter is `name=INTEGER`; reads the integer. */
static bool read_parameter(struct bide__text parameter, char name, int scale,
                           int64_t *ret)
{
    return parameter.len > 2 && parameter.at[0] == name &&
           parameter.at[1] == '=' &&
           bide__read_integer((struct bide__text){ parameter.at + 2,
                                                   parameter.len - 2 },
                              scale, ret);
}

static bool read_quota(struct bide__text item, int64_t *ret_ns)
{
    int64_t remaining = -1, reset_ns = -1;
    up_to(item, ';', &item); /* its name */
    while (item.len > 0) {
        struct bide__text parameter = up_to(item, ';', &item);
        if (!read_parameter(parameter, 'r', 0, &remaining))
            read_parameter(parameter, 't', S_TO_NS, &reset_ns);
    }
    *ret_ns = reset_ns;
    return remaining == 0 && reset_ns >= 0;
}

static bool read_rate_limit(struct bide__text value, int64_t wall_s,
                            int64_t *ret_ns)
{
    int64_t ns, longest = -1;
    (void)wall_s;
    while (value.len > 0)
        if (read_quota(up_to(value, ',', &value), &ns) && ns > longest)
            longest = ns;
    *ret_ns = longest;
    return longest >= 0;
}

typedef bool (*reader)(struct bide__text value, int64_t wall_s,
                       int64_t *ret_ns);

/* By source; NULL where it is not a header field. */
static const reader readers[N_SOURCES] = {
    [BIDE_HINT_GRPC_PUSHBACK] = read_pushback,
    [BIDE_HINT_RETRY_AFTER_MS] = read_ms,
    [BIDE_HINT_MS_RETRY_AFTER_MS] = read_ms,
    [BIDE_HINT_AMZ_RETRY_AFTER] = read_ms,
    [BIDE_HINT_RETRY_AFTER] = read_seconds_or_date,
    [BIDE_HINT_RATELIMIT] = read_rate_limit,
    [BIDE_HINT_RATELIMIT_RESET] = read_reset,
    [BIDE_HINT_X_RATELIMIT_RESET] = read_reset,
};

static void read_refusal(bide_hint *hint, struct bide__text name,
                         struct bide__text value)
{
    bool below = bide__same(name, bide__text_of("x-bide-retry")) &&
                 bide__same(value, bide__text_of("no"));
    bool server = bide__same(name, bide__text_of("x-should-retry")) &&
                  bide__same(value, bide__text_of("false"));

    hint->refused = hint->refused || below || server;
    hint->refused_below = hint->refused_below || below;
}

/* The source that is a field of this name, or NONE. */
static bide_hint_source find_source(struct bide__text name)
{
    for (size_t i = 0; i < N_SOURCES; i++)
        if (readers[i] && bide__same(name, bide__text_of(names[i])))
            return (bide_hint_source)i;
    return BIDE_HINT_NONE;
}

void bide_hint_header(bide_hint *hint, const bide_header *header,
                      int64_t wall_s)
{
    struct bide__text name, value;
    bide_hint_source source;
    int64_t wait_ns;

    if (!hint || !header || !header->name)
        return;
    name = (struct bide__text){ header->name, header->name_len };
    value = bide__trim(header->value, header->value_len);
    source = find_source(name);
    if (source == BIDE_HINT_NONE)
        read_refusal(hint, name, value);
    else if (readers[source](value, wall_s, &wait_ns))
        bide__hint_offer(hint, source, wait_ns);
    else if (source == BIDE_HINT_GRPC_PUSHBACK)
        hint->refused = true;
}
