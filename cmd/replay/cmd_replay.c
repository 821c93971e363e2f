/* `bide replay`: plays events, or a log, through a policy in virtual time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/common/policy_choice.h"
#include "cmd/replay/command.h"
#include "cmd/replay/compare.h"
#include "config/field/field.h"
#include "replay/format.h"
#include "replay/log.h"
#include "replay/print.h"
#include "replay/replay.h"
#include "replay/script.h"
#include "replay/source.h"
#include "replay/start.h"

struct request {
    struct policy_choice policy;
    const char *log;  /* its format; NULL: the file itself shows what it is */
    const char *html; /* or NULL */
    bool json, calls, compare;
    struct compared compared;
    bool started;
    struct replay_start start;
};

static const struct flag flag_list[] = {
    { "json", 0, NULL, "one JSON object a line" },
    { "log", 0, "FORMAT",
      "what the access log is in: common, combined, envoy, istio, haproxy, "
      "json, or a format in the words of nginx ($status), Apache (%>s) or "
      "Envoy "
      "(%RESPONSE_CODE%); without it, the file shows" },
    { "calls", 0, NULL, "a row for each call, not for each decision" },
    { "start", 0, "KEY=VALUE",
      "begin in this state: spent, tokens, deposits, breaker, open, "
      "reopenings, failed_in_a_row, attempts, failed, slow, rate; may be "
      "repeated" },
    { "compare", 0, NULL,
      "run an access log through several policies, side by side: those that "
      "follow it" },
    { "html", 0, "FILE", "an access log's report as a page" },
    POLICY_FLAGS,
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    "bide replay [options] [FILE]\n"
    "bide replay --compare [options] FILE POLICY...",
    "Runs a script of events through a policy, on virtual time and through the "
    "very engine that production runs, and shows each decision, its reason and "
    "the state after it. For an access log, shows how many calls failed, and "
    "how many would have failed under the policy. Without FILE, or for -, "
    "reads standard input.",
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
    "Examples:\n"
    "  bide replay --policy bide.yaml /var/log/nginx/access.log\n"
    "  bide replay --compare --html report.html access.log old.yaml new.yaml\n"
    "\n"
    "Exit codes: 0 it ran; 2 an error in the arguments, the policy, the "
    "script or the log.",
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
    else if (strcmp(name, "compare") == 0)
        request->compare = true;
    else if (strcmp(name, "html") == 0)
        request->html = argument;
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

/* Its text, or NULL after a message. */
static char *script_text(const char *path, struct replay_source *in,
                         size_t *ret_len)
{
    char *text = replay_source_text(in, ret_len);

    if (!text)
        complain("replay", "%s: %s", path,
                 in->error == EFBIG ? "larger than 64 MiB"
                 : in->error        ? strerror(in->error)
                                    : "out of memory");
    return text;
}

static int run_script(const struct request *request, const char *path,
                      struct replay_source *in, struct replay_printer *printer)
{
    bide_diagnostics *notes;
    struct replay_settings settings = settings_of(request);
    struct replay_script script;
    size_t len = 0;
    char *text;
    int rc;

    if (request->compare || request->html)
        return complain("replay",
                        "%s: found a script; --compare and --html "
                        "expect an access log",
                        path);
    text = script_text(path, in, &len);
    if (!text)
        return EXIT_USAGE;
    notes = bide_diagnostics_new();
    rc = notes ? 0 : BIDE_ENOMEM;
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

/* Shows what became of the log: one policy, or several. */
static int show_log(const struct request *request, const char *path,
                    const struct replay_log *log,
                    struct replay_printer *printer)
{
    const struct policy_choice *p = &request->policy;
    struct replay_settings settings = settings_of(request);
    int failed = 0, rc;

    if (request->compare) {
        rc = compared_run(&request->compared, path, log, &settings, printer,
                          request->html, &failed);
        return failed < 0 ? told(failed, printer) : rc;
    }
    rc = told(replay_run_log(log, &settings, printer), printer);
    if (rc == 0 && request->html)
        rc = page_write(request->html, path, log, &settings,
                        p->file     ? p->file
                        : p->preset ? p->preset
                                    : "the defaults");
    return rc;
}

static int run_log(const struct request *request, const char *format_name,
                   const char *path, struct replay_source *in,
                   struct replay_printer *printer)
{
    const char *why = NULL;
    struct replay_log log;
    struct replay_format *format = replay_format_new(format_name, &why);
    int rc;

    if (!format)
        return complain("replay", "--log: `%s`: %s", format_name, why);
    rc = replay_log_read(&log, format, in);
    replay_format_free(format);
    if (in->error)
        rc = complain("replay", "%s: %s", path, strerror(in->error));
    else if (rc < 0)
        rc = told(rc, printer);
    else
        print_bad(&log, path);
    if (rc == 0 && log.n == 0)
        rc = complain("replay", "%s: no line in the format `%s`", path,
                      format_name);
    if (rc == 0)
        rc = show_log(request, path, &log, printer);
    replay_log_done(&log);
    return rc;
}

/* ===== which of the two ===== */

static int run_unknown(const struct request *request, const char *path,
                       struct replay_source *in, struct replay_printer *printer)
{
    size_t len = 0;
    const char *head = replay_source_head(in, &len);
    const char *what = head ? replay_sniff(head, len) : NULL;

    if (!head || in->error)
        return complain("replay", "%s: %s", path,
                        head ? strerror(in->error) : "out of memory");
    if (!what)
        return complain("replay",
                        "%s: neither a script nor an access log in a known "
                        "format; name its format with --log",
                        path);
    if (strcmp(what, "script") == 0)
        return run_script(request, path, in, printer);
    fprintf(stderr, "bide replay: %s: read as an access log, --log %s\n", path,
            what);
    return run_log(request, what, path, in, printer);
}

static int run(const struct request *request, const char *path)
{
    struct replay_printer printer = { .out = stdout,
                                      .width = terminal_width(stdout),
                                      .json = request->json,
                                      .calls = request->calls };
    struct replay_source in;
    int rc;

    if (replay_source_open(&in, path) < 0)
        return complain("replay", "%s: %s", path, strerror(errno));
    rc = request->log ? run_log(request, request->log, path, &in, &printer)
                      : run_unknown(request, path, &in, &printer);
    replay_source_close(&in);
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
    if (rc < 0 && !request.compare && argc - first > 1)
        rc = complain("replay",
                      "one FILE at a time, not %d; --compare takes policies "
                      "after it",
                      argc - first);
    if (rc < 0 && request.compare && first == argc)
        rc = complain("replay", "--compare: expected a log, and policies");
    if (rc < 0 && request.compare && request.calls)
        rc = complain("replay", "--compare and --calls: expected one of them");
    if (rc < 0)
        rc = policy_sets(&request.policy);
    if (rc < 0)
        rc = request.compare
                 ? compared_settle(&request.compared, &request.policy,
                                   argv + first + 1, argc - first - 1)
                 : policy_settle(&request.policy);
    if (rc < 0)
        rc = run(&request, first < argc ? argv[first] : "-");
    policy_done(&request.policy);
    compared_done(&request.compared);
    return rc;
}
