/* Fuzzes `bide replay`: the readers of scripts and logs, and the engine behind
 * them, which is asked in every order that a script can bring about.
 *
 * The first byte picks a policy and what the rest is: a script, or a log in one
 * of the formats. Whatever it is, reading and running it come to an end; the
 * driver itself asserts that every call has ended then and nothing is held any
 * more. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/format.h"
#include "replay/log.h"
#include "replay/print.h"
#include "replay/replay.h"
#include "replay/script.h"
#include "replay/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DECISIONS_MAX = 20000 };

static bide_policy_conf policy(unsigned which)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    switch (which) {
    case 1:
        conf.attempts = 1;
        conf.hedge.max = 3;
        conf.hedge.after_ns = BIDE_MILLISECOND;
        conf.hedge.extra_load = 1;
        break;
    case 2:
        conf.limits.in_flight = 2;
        conf.limits.queue = 3;
        conf.limits.adaptive_rate = true;
        conf.limits.adaptive_throttle = true;
        conf.breaker.min_calls = 2;
        conf.breaker.open_ns = 10 * BIDE_MILLISECOND;
        break;
    case 3:
        conf.attempts = 2000000000;
        conf.attempt_timeout_ns = BIDE_FOREVER;
        conf.backoff.base_ns = 0;
        conf.budget.kind = BIDE_BUDGET_OFF;
        conf.breaker.kind = BIDE_BREAKER_COUNT;
        conf.breaker.window_calls = 20;
        break;
    default:
        break;
    }
    return conf;
}

static void run_script(const char *text, size_t len,
                       const struct replay_settings *settings,
                       struct replay_printer *printer)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    struct replay_script script;
    if (replay_script_read(&script, "fuzz", text, len, notes) == 0) {
        replay_run_script(&script, settings, printer);
        replay_script_done(&script);
    } else if (bide_diagnostics_size(notes) == 0) {
        abort(); /* refused, and nobody knows why */
    }
    bide_diagnostics_free(notes);
}

static void run_log(const char *text, size_t len, const char *format_text,
                    const struct replay_settings *settings,
                    struct replay_printer *printer)
{
    const char *why = NULL;
    struct replay_format *format = replay_format_new(format_text, &why);
    FILE *in = len ? fmemopen((void *)(uintptr_t)text, len, "rb") : NULL;
    struct replay_source source;
    struct replay_log log;
    replay_source_of(&source, in);
    if (in && format && replay_log_read(&log, format, &source) == 0) {
        for (size_t i = 1; i < log.n; i++)
            if (log.lines[i].at_ns < log.lines[i - 1].at_ns)
                abort();
        replay_run_log(&log, settings, printer);
        replay_log_done(&log);
    }
    if (in)
        fclose(in);
    replay_format_free(format);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const formats[] = {
        "istio",
        "haproxy",
        "common",
        "combined",
        "json",
        "$msec $status $request_time $request_method",
        "[$time_iso8601] \"$request\" $status;",
        "%h %t \"%r\" %>s %D",
    };
    FILE *nowhere = size != 0 ? fopen("/dev/null", "w") : NULL;
    if (!nowhere)
        return 0;

    bide_policy_conf conf = policy(data[0] & 3);
    struct replay_settings settings = { &conf, 1, DECISIONS_MAX, NULL };
    struct replay_printer printer = { .out = nowhere,
                                      .json = (data[0] & 4) != 0,
                                      .calls = (data[0] & 8) != 0 };
    unsigned kind = data[0] >> 4;
    const char *text = (const char *)data + 1;
    replay_sniff(text, size - 1);
    if (kind < 8)
        run_script(text, size - 1, &settings, &printer);
    else
        run_log(text, size - 1, formats[kind - 8], &settings, &printer);
    fclose(nowhere);
    return 0;
}
