/* What an attempt came to, and whether that may improve.
 *
 * The first that applies:
 *
 *     told to stop           ignored: the user gave it up, not the command
 *     --until                success if it is what was asked for, and transient
 *                            otherwise; nothing below counts then
 *     exit 0                 success, unless --retry-if matches
 *     --stop-if, --stop-on   permanent
 *     --retry-if, --retry-on transient
 *     one of those two was given, and this is an exit code: permanent
 *     cannot be executed, not found, SIGPIPE: permanent
 *     anything else          transient */
#include "cmd/run/judge.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/codes.h"
#include "cmd/run/args.h"

/* Nobody reads what it writes: it would only be killed again. */
static bool hopeless(const struct ending *e)
{
    return e->code == EXIT_NOT_EXECUTABLE || e->code == EXIT_NOT_FOUND ||
           (e->how == ENDED_SIGNAL && e->signal == SIGPIPE);
}

static bool as_asked(const struct run_args *args, const struct ending *e)
{
    return args->until == UNTIL_FAILURE ? e->code != 0
                                        : args->until_codes.has[e->code];
}

static bide_class class_of(const struct run_args *args, const struct ending *e)
{
    if (e->stopped_by)
        return e->code == 0 ? BIDE_SUCCESS : BIDE_IGNORED;
    if (args->until != UNTIL_SUCCESS)
        return as_asked(args, e) ? BIDE_SUCCESS : BIDE_TRANSIENT;
    if (e->code == 0 && !e->retry_seen)
        return BIDE_SUCCESS;
    if ((e->stop_seen && e->code != 0) || args->stop_on.has[e->code])
        return BIDE_PERMANENT;
    if (e->retry_seen || args->retry_on.has[e->code])
        return BIDE_TRANSIENT;
    if ((args->retry_on.given || args->retry_if.given) && e->how == ENDED_EXIT)
        return BIDE_PERMANENT;
    return hopeless(e) ? BIDE_PERMANENT : BIDE_TRANSIENT;
}

bide_outcome run_judge(const struct run_args *args, const struct ending *e)
{
    bide_outcome out = { .cls = class_of(args, e) };

    if (e->how == ENDED_TIMEOUT)
        out.fault = BIDE_FAULT_TIMEOUT;
    if (e->how == ENDED_NOT_STARTED) {
        out.fault = BIDE_FAULT_LOCAL;
        out.not_processed = true;
    }
    return out;
}

const char *run_ending_text(const struct ending *e, char *buffer, size_t size)
{
    char name[16];

    switch (e->how) {
    case ENDED_EXIT:
        snprintf(buffer, size, "exit %d", e->code);
        break;
    case ENDED_SIGNAL:
        snprintf(buffer, size, "signal %s",
                 bide__signal_name(e->signal, name, sizeof name));
        break;
    case ENDED_TIMEOUT:
        snprintf(buffer, size, "timeout");
        break;
    case ENDED_NOT_STARTED:
        snprintf(buffer, size, "not started");
        break;
    }
    return buffer;
}
