/* Commands of the user's own: before each retry, and when all is over.
 *
 * The shell runs them. They find what happened in the environment, read nothing,
 * and write to standard error: standard output is the command's. What they come
 * to changes nothing. */
#include "cmd/run/hook.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/common/output.h"
#include "cmd/run/cmd.h"

static void set_outcome(const struct run *r, int code)
{
    char text[32];

    unsetenv("BIDE_REASON");
    unsetenv("BIDE_DEADLINE_MS");
    snprintf(text, sizeof text, "%u", r->attempt);
    setenv("BIDE_ATTEMPT", text, 1);
    snprintf(text, sizeof text, "%d", code);
    setenv("BIDE_EXIT", text, 1);
    if (r->ended)
        setenv("BIDE_REASON", run_ending_text(&r->last, text, sizeof text), 1);
}

/* Whoever interrupts a hook wants all of it to end. */
static void run_hook(struct run *r, const char *flag, const char *script,
                     int64_t timeout_ns)
{
    char shell[] = "/bin/sh", option[] = "-c", text[32];
    char *command[] = { shell, option, (char *)(uintptr_t)script, NULL };
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int files[3] = { null, STDERR_FILENO, STDERR_FILENO };
    struct ending end;

    r->now = bide_now_ns();
    end = run_beside(r, command, files, timeout_ns);
    if (null >= 0)
        close(null);
    if (end.stopped_by) {
        r->interrupted_by = end.stopped_by;
        bide_call_cancel(&r->call);
    } else if (end.code != 0 && !r->quiet) {
        complain("run", "%s: %s", flag,
                 run_ending_text(&end, text, sizeof text));
    }
    unsetenv("BIDE_EXIT");
    r->now = bide_now_ns();
}

/* Once after each attempt that is followed by another. */
void hook_before_retry(struct run *r)
{
    int64_t deadline = bide_call_deadline(&r->call);

    if (!r->args->on_retry || !r->ended || r->hooked == r->attempt)
        return;
    r->hooked = r->attempt;
    set_outcome(r, r->last.code);
    run_hook(r, "--on-retry", r->args->on_retry,
             deadline == BIDE_FOREVER ? BIDE_FOREVER : deadline - r->now);
}

void hook_at_end(struct run *r, const bide_decision *d, int code)
{
    bool success = d->reason == BIDE_BECAUSE_SUCCESS;
    const char *script = success ? r->args->on_success : r->args->on_failure;

    if (!script)
        return;
    set_outcome(r, code);
    setenv("BIDE_STOPPED", bide_reason_name(d->reason), 1);
    run_hook(r, success ? "--on-success" : "--on-failure", script,
             BIDE_FOREVER);
}
