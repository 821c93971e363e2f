/* The layers above and below: a command that `bide run` runs may itself be a
 * script with `bide run` or `bide fetch` in it. Only one layer retries, and the
 * remaining time is passed down. The environment has both, as baggage: under the
 * name that OpenTelemetry gives it there, so that an instrumented program passes
 * it on in its requests too. */
#include "cmd/common/parent_env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bide/run.h"

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

static bide_header baggage(void)
{
    const char *text = getenv("BAGGAGE");
    return (bide_header){ "baggage", 7, text, text ? strlen(text) : 0 };
}

void heed_layer_above(bide_op *op, int64_t now)
{
    int64_t left_ms = number_from("BIDE_DEADLINE_MS");
    bide_claim above = BIDE_CLAIM_INIT;
    bide_header h = baggage();

    if (left_ms > 0 && left_ms < (BIDE_FOREVER - now) / BIDE_MILLISECOND)
        op->deadline_ns = now + left_ms * BIDE_MILLISECOND;
    bide_claim_header(&above, &h, NULL, bide_wall_ms());
    bide_claim_apply(&above, op, now);
}

bool tell_layer_below(const bide_claim *claim)
{
    bide_header theirs = baggage();
    size_t room = theirs.value_len + BIDE_BAGGAGE_OWN + 2;
    char *text = malloc(room);

    if (!text)
        return false;
    size_t len =
        bide_baggage_write(text, room - 1, &theirs, 1, claim, bide_wall_ms());
    text[len] = '\0';
    int rc = len ? setenv("BAGGAGE", text, 1) : unsetenv("BAGGAGE");
    free(text);
    return rc == 0;
}
