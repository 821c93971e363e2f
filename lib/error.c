/* Names and texts of errors and reasons, and of the version. */
#include "bide/error.h"

#include <stddef.h>

#include "bide/call.h"
#include "bide/policy.h"
#include "lib/policy.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *bide_version(void)
{
    return TEXT(BIDE_VERSION_MAJOR) "." TEXT(BIDE_VERSION_MINOR) "." TEXT(
        BIDE_VERSION_PATCH);
}

const char *bide_error_name(int rc)
{
    if (rc <= BIDE_EFIELD) {
        const char *key = bide__option_key(BIDE_EFIELD - rc);
        return key ? key : "unknown";
    }
    switch (rc) {
    case 0:
        return "success";
#define X(name, value, text)                                                   \
    case name:                                                                 \
        return #name;
        BIDE_ERRORS(X)
#undef X
    default:
        return "unknown";
    }
}

const char *bide_strerror(int rc)
{
    if (rc <= BIDE_EFIELD) {
        const char *expected = bide__option_error(BIDE_EFIELD - rc);
        return expected ? expected : "unknown error";
    }
    switch (rc) {
    case 0:
        return "success";
#define X(name, value, text)                                                   \
    case name:                                                                 \
        return text;
        BIDE_ERRORS(X)
#undef X
    default:
        return "unknown error";
    }
}

static const struct {
    const char *name, *text;
} reasons[] = {
#define X(name, key, text) { key, text },
    BIDE_REASONS(X)
#undef X
};

const char *bide_reason_name(bide_reason reason)
{
    if ((int)reason < 0)
        return bide_error_name((int)reason);
    return reason < BIDE_N_REASONS ? reasons[reason].name : NULL;
}

const char *bide_reason_text(bide_reason reason)
{
    if ((int)reason < 0)
        return bide_strerror((int)reason);
    return reason < BIDE_N_REASONS ? reasons[reason].text : NULL;
}

bool bide_reason_is_refusal(bide_reason reason)
{
    switch (reason) {
    case BIDE_BECAUSE_BREAKER_OPEN:
    case BIDE_BECAUSE_BUDGET:
    case BIDE_BECAUSE_IN_FLIGHT:
    case BIDE_BECAUSE_LOCAL_THROTTLE:
    case BIDE_BECAUSE_ADAPTIVE_RATE:
    case BIDE_BECAUSE_RATE:
    case BIDE_BECAUSE_RETRIES_OFF:
    case BIDE_BECAUSE_SHED_RETRY:
    case BIDE_BECAUSE_SHED_PRIORITY:
    case BIDE_BECAUSE_CONNECTION_WAIT:
    case BIDE_BECAUSE_UNREACHABLE:
        return true;
    default:
        return false;
    }
}
