/* `bide replay`: plays events, or a log, through a policy in virtual time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/common/policy_choice.h"
#include "cmd/replay/command.h"
#include "config/doc/read_file.h"
#include "config/field/field.h"
#include "replay/format.h"
#include "replay/log.h"
#include "replay/print.h"
#include "replay/replay.h"
#include "replay/script.h"
#include "replay/start.h"

struct request {
    struct policy_choice policy;
    const char *log; /* its format; NULL: the file is a script */
    bool json, calls;
    bool started;
    struct replay_start start;
};

static const struct flag flag_list[] = {
    { "json", 0, NULL, "one JSON object a line" },
    { "log", 0, "FORMAT",
      "read an access log: common, combined, json, or a format in the words of "
      "nginx ($status) or Apache (%>s)" },
    { "calls", 0, NULL, "a row for each call, not for each decision" },
    { "start", 0, "KEY=VALUE",
      "begin in this state: spent, tokens, deposits, breaker, open, "
      "reopenings, failed_in_a_row, attempts, failed, slow, rate; may be "
      "repeated" },
    POLICY_FLAGS,
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    "bide replay [options] [FILE]",
    "Runs a script of events through a policy, on virtual time and through the "
    "very engine that production runs, and shows each decision, its reason and "
    "the state after it. With --log, shows what the policy would have done to "
    "the traffic of an access log. Without FILE, or for -, reads standard "
    "input.",
    flag_list,
    "The same input gives the same output: --seed is 1 unless it is given.\n"
    "\n"
    "A script, one event a line:\n"
    "  {\"t\": 0, \"event\": \"begin\", \"results\": [{\"status\": 503}, "
    "{\"status\": 200}]}\n"
    "or\n"
    "  {\"t\": 0, \"event\": \"begin\", \"call\": \"a\"}\n"
    "  {\"t\": \"120ms\", \"event\": \"result\", \"call\": \"a\", "
    "\"status\": 503}\n"
    "\n"
    "bide-replay(1) has the whole format.\n"
    "\n"
    "Exit codes: 0 it ran; 2 an error in the arguments, the policy, the "
    "script "
    "or the log.",
};

/* All keys of a state, for the message about another one. */
static const char *start_keys(void)
{
    static char text[300];
    size_t n = (size_t)snprintf(text, sizeof text, "KEY=VALUE, KEY one of");

    for (const struct bide__field *f = replay_start_table.fields; f->key; f++)
        if (n < sizeof text)
            n += (size_t)snprintf(text + n, sizeof text - n, " %s", f->key);
    return text;
}

/* `tokens=3`. */
static const char *take_start(struct request *request, const char *argument)
{
    size_t len = strcspn(argument, "=");
    const char *expected = NULL;
    char key[32];
    int taken = 0;

    snprintf(key, sizeof key, "%.*s", (int)len, argument);
    if (argument[len] == '=')
        taken = field_flag(&replay_start_table, &request->start, key,
                           argument + len + 1, &expected);
    request->started = true;
    if (taken > 0)
        return NULL;
    return taken < 0 ? expected : start_keys();
}

static const char *take(void *ctx, const char *name, const char *argument)
{
    struct request *request = ctx;
    const char *expected = "something else";
    if (strcmp(name, "json") == 0)
        request->json = true;
    else if (strcmp(name, "calls") == 0)
        request->calls = true;
    else if (strcmp(name, "log") == 0)
        request->log = argument;
    else if (strcmp(name, "start") == 0)
        return take_start(request, argument);
    else if (policy_flag(&request->policy, name, argument, &expected) < 0)
        return expected;
    return NULL;
}

static int told(int rc, const struct replay_printer *printer)
{
    if (rc == 0)
        return EXIT_OK;
    if (rc == BIDE_EINVAL && printer->wrong_start)
        return complain("replay", "the state to start from: %s",
                        printer->wrong_start);
    if (rc == BIDE_ESTATE)
        return complain("replay", "stopped: it goes on for too many decisions. "
                                  "Waits of 0 and no budget?");
    return complain("replay", "%s", bide_strerror(rc));
}

static struct replay_settings settings_of(const struct request *request)
{
    return (struct replay_settings){ &request->policy.conf,
                                     request->policy.seed,
                                     REPLAY_DECISIONS_MAX,
                                     request->started ? &request->start
                                                      : NULL };
}

/* ===== scripts ===== */

static int run_script(const struct request *request, const char *path,
                      struct replay_printer *printer)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    struct replay_settings settings = settings_of(request);
    struct replay_script script;
    char *text = NULL;
    size_t len = 0;
    int rc = notes ? bide__read_file(path, &text, &len, notes) : BIDE_ENOMEM;

    if (rc == 0)
        rc = replay_script_read(&script, path, text, len, notes);
    if (rc == BIDE_ENOMEM) {
        complain("replay", "out of memory");
    } else if (rc < 0) {
        bide_diagnostics_print(notes, stderr, use_colours(stderr));
    } else {
        rc = told(replay_run_script(&script, &settings, printer), printer);
        replay_script_done(&script);
    }
    bide_diagnostics_free(notes);
    free(text);
    return rc < 0 ? EXIT_USAGE : rc;
}

/* ===== logs ===== */

static void print_bad(const struct replay_log *log, const char *path)
{
    if (!log->n_bad)
        return;
    complain("replay", "%s: %llu of %llu lines not understood", path,
             (unsigned long long)log->n_bad, (unsigned long long)log->n_read);
    for (size_t i = 0; i < REPLAY_BAD_SHOWN && i < log->n_bad; i++)
        fprintf(stderr, "  line %llu: %s: `%s`\n",
                (unsigned long long)log->bad[i].number, log->bad[i].why,
                log->bad[i].text);
}

static int run_log(const struct request *request, const char *path,
                   struct replay_printer *printer)
{
    const char *why = NULL;
    struct replay_settings settings = settings_of(request);
    struct replay_log log;
    struct replay_format *format = replay_format_new(request->log, &why);
    if (!format)
        return complain("replay", "--log: `%s`: %s", request->log, why);

    bool standard = strcmp(path, "-") == 0;
    FILE *in = standard ? stdin : fopen(path, "rb");
    int rc = in ? replay_log_read(&log, format, in) : 0;
    bool broken = !in || ferror(in);
    int error = errno;
    if (in && !standard)
        fclose(in);
    replay_format_free(format);
    if (broken)
        rc = complain("replay", "%s: %s", path, strerror(error));
    else if (rc < 0)
        rc = told(rc, printer);
    else
        print_bad(&log, path);
    if (rc == 0 && log.n == 0)
        rc = complain("replay", "%s: no line in the format `%s`", path,
                      request->log);
    if (rc == 0)
        rc = told(replay_run_log(&log, &settings, printer), printer);
    if (in)
        replay_log_done(&log);
    return rc;
}

int cmd_replay(int argc, char **argv)
{
    struct request request = { .policy = POLICY_CHOICE_INIT,
                               .start = REPLAY_START_INIT };
    int first = argc;
    request.policy.command = "replay";
    request.policy.seeded = true;
    request.policy.seed = 1;

    int rc = flags_parse(&flags, argc, argv, take, &request, &first);
    if (rc < 0 && argc - first > 1)
        rc = complain("replay", "one FILE at a time, not %d", argc - first);
    if (rc < 0)
        rc = policy_settle(&request.policy);
    if (rc < 0) {
        const char *path = first < argc ? argv[first] : "-";
        struct replay_printer printer = { .out = stdout,
                                          .width = terminal_width(stdout),
                                          .json = request.json,
                                          .calls = request.calls };
        rc = request.log ? run_log(&request, path, &printer)
                         : run_script(&request, path, &printer);
    }
    policy_done(&request.policy);
    return rc;
}
