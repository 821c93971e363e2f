/* The layer above: a command that `bide run` runs may itself be a script with
 * `bide run` or `bide fetch` in it. Only one layer retries, and the remaining
 * time is passed down; the environment has both. */
#include "cmd/common/parent_env.h"

#include <errno.h>
#include <stdlib.h>

/* 0 if it is not set, or not a number that bide would set. */
static int64_t number_from(const char *name)
{
    const char *text = getenv(name);
    char *end;

    if (!text || *text < '0' || *text > '9')
        return 0;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    return *end || errno ? 0 : n;
}

void heed_layer_above(bide_op *op, int64_t now)
{
    int64_t left_ms = number_from("BIDE_DEADLINE_MS");
    int64_t attempt = number_from("BIDE_ATTEMPT");

    if (left_ms > 0 && left_ms < (BIDE_FOREVER - now) / BIDE_MILLISECOND)
        op->deadline_ns = now + left_ms * BIDE_MILLISECOND;
    if (attempt > 0 && attempt < UINT32_MAX)
        op->upstream_attempt = (uint32_t)attempt;
}
