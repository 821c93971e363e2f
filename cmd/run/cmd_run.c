/* bide run: a command, until it succeeds or the policy says stop. */
#include <locale.h>

#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/run/cmd.h"
#include "cmd/run/command.h"
#include "cmd/run/state.h"

static const struct flag flag_list[] = {
    { "retry-on", 0, "CODES", "retry on these exit codes only (1,75,100-110)" },
    { "stop-on", 0, "CODES",
      "do not retry on these; names of signals and `timeout` may be among "
      "them" },
    { "retry-if", 0, "REGEX",
      "retry if the output matches, even if the exit code is 0" },
    { "stop-if", 0, "REGEX", "do not retry if the output matches" },
    { "until", 0, "WHAT",
      "run it again until it succeeds (success), fails (failure; as often as "
      "that takes, unless --attempts says), or exits with one of these codes" },
    { "at-most-once", 0, NULL, "do not run it again once it has been started" },
    { "signal", 's', "SIGNAL",
      "what an attempt gets when its time is up (TERM)" },
    { "kill-after", 0, "D",
      "how long an attempt may take to end once its time is up (2s)" },
    { "foreground", 0, NULL,
      "leave the command in our process group: the terminal is its own, and "
      "its children are not ended with it" },
    { "on-retry", 0, "SCRIPT",
      "run this by sh -c after each failure that is retried" },
    { "on-failure", 0, "SCRIPT", "run this when it has given up" },
    { "on-success", 0, "SCRIPT", "run this when the command has succeeded" },
    { "stdin", 0, "HOW",
      "replay (the same for each attempt), inherit, null, or auto: replay "
      "files, pipes and sockets" },
    { "output", 'o', "WHAT",
      "all, prefix (failed attempts on stderr, with [N/M]), last (only that "
      "of the last attempt), success (only that of a success)" },
    { "key", 'k', "NAME",
      "share budget and breaker with all that run under this name" },
    { "fleet", 0, "URL/NAME",
      "share them with a fleet, on Redis: redis://127.0.0.1:6379/shop" },
    { "list", 0, NULL, "list the keys there are, and their state" },
    { "reset", 0, NULL, "forget the state of the --key first" },
    { "json", 0, NULL,
      "report each decision on stderr as JSON, instead of messages" },
    { "log-file", 0, "FILE",
      "write these reports to a file; - is stdout, N a descriptor" },
    { "quiet", 'q', NULL, "print no messages, not even why it gave up" },
    { "verbose", 'v', NULL, "report after each attempt what happens next" },
    POLICY_FLAGS,
    /* as retry(1) and timeout(1) call them */
    { "times", 't', flag_elsewhere,
      "use --attempts N, which counts the first as well, or unlimited" },
    { "retries", 'r', flag_elsewhere,
      "use --attempts N, which counts the first as well" },
    { "delay", 'd', flag_elsewhere,
      "use --base D --factor 1 --jitter none, such as --base 10s" },
    { "while", 'w', flag_elsewhere, "use --until, or --retry-on CODES" },
    { "message", 'm', flag_elsewhere, "use --verbose, or --on-retry SCRIPT" },
    { "timeout", 0, flag_elsewhere,
      "use --attempt-timeout D for each attempt, --deadline D for all of it" },
    { "preserve-status", 0, flag_elsewhere,
      "a timeout exits with 124; --on-failure finds BIDE_REASON" },
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    "bide run [options] [--] COMMAND [ARGUMENT...]",
    "Runs a command until it succeeds or the policy says stop. Any exit code "
    "but 0 is worth a retry, except 126 and 127 (cannot be executed, not "
    "found); so is a timeout, and death by a signal, except PIPE. An attempt "
    "has no timeout unless one is set. Of its standard input no more is taken "
    "than the command takes.",
    flag_list,
    "Exit codes: the command's own, of its last attempt; 75 it was not "
    "attempted, because the breaker is open or a limit is reached; 124 the "
    "last attempt timed out; 125 bide itself failed; 126 the command cannot be "
    "executed; 127 it was not found; 128+N it was killed by signal N; 2 also an "
    "error in the arguments or in the policy.\n\n"
    "The command finds BIDE_ATTEMPT, BIDE_ATTEMPTS, BIDE_REASON (of the last "
    "failure) and BIDE_DEADLINE_MS (what is left) in its environment; and, in "
    "BAGGAGE, for a bide below, who owns the retries. Scripts of --on-... find "
    "BIDE_EXIT as well, and at the end BIDE_STOPPED.\n\n"
    "Examples:\n"
    "  bide run -- curl -fsS https://example.org/\n"
    "  bide run --attempts 10 --cap 5s --deadline 2m -- ./migrate\n"
    "  bide run --key backup --stop-on 2 -o last -- rsync -a src/ host:dst/\n"
    "  bide run --until failure --base 1ms -- ./flaky-test",
};

/* --list and --reset, which may be all there is to do: then an exit code. */
static int look_after_keys(const struct run_args *a, bool command)
{
    int rc = -1;

    if (a->list)
        return keys_list(a->json);
    if (a->reset && !a->key)
        return complain("run", "--reset: expected --key NAME as well");
    if (a->reset)
        rc = keys_reset(a->key, a->quiet || command);
    return rc < 0 && a->reset && !command ? EXIT_OK : rc;
}

int cmd_run(int argc, char **argv)
{
    struct run_args args = {
        .policy = POLICY_CHOICE_INIT,
        .kill_after_ns = 2 * BIDE_SECOND,
        .end_signal = SIGTERM,
    };
    int first, rc;

    args.policy.command = argv[0];
    bide_policy_preset(&args.policy.conf, "patient");
    rc = flags_parse_command(&flags, argc, argv, run_take, &args, &first);
    if (rc < 0)
        rc = look_after_keys(&args, first < argc);
    if (rc < 0 && first == argc) {
        complain(argv[0], "expected a command");
        fprintf(stderr, "  see `bide run --help`\n");
        rc = EXIT_USAGE;
    }
    if (rc < 0 && args.policy.file)
        setlocale(LC_CTYPE, ""); /* for what is wrong with the file */
    if (rc < 0)
        rc = policy_settle(&args.policy);
    if (rc < 0) {
        args.command = argv + first;
        rc = run_loop(&args);
    }
    run_args_done(&args);
    return rc;
}
