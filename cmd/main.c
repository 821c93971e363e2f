/* bide: one program, one file per subcommand. */
#include <errno.h>
#include <locale.h>
#include <string.h>

#include "base/people.h"
#include "cmd/check/command.h"
#include "cmd/common/exec.h"
#include "cmd/common/files.h"
#include "cmd/common/output.h"
#include "cmd/explain/command.h"
#include "cmd/replay/command.h"
#include "cmd/run/command.h"
#include "cmd/schedule/command.h"
#include "cmd/sim/command.h"
#include "cmd/top/command.h"
#include "cmd/translate/command.h"

struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the subcommand */
    const char *summary;               /* one line, for `bide --help` */
};

static const struct command commands[] = {
    { "run", cmd_run,
      "run a command until it succeeds or the policy says stop" },
    { "fetch", cmd_fetch,
      "make an HTTP request, and retry it as the policy says" },
    { "proxy", cmd_proxy,
      "run a sidecar that retries for any HTTP or gRPC client" },
    { "worker", cmd_worker,
      "take messages from a queue, and hand each to a handler" },
    { "enqueue", cmd_enqueue, "put messages into a queue" },
    { "check", cmd_check, "find errors and risks in a policy file" },
    { "explain", cmd_explain, "show one decision, and every rule behind it" },
    { "schedule", cmd_schedule,
      "show the waits of a policy, as a table and as a timeline" },
    { "replay", cmd_replay, "run events, or an access log, through a policy" },
    { "sim", cmd_sim, "simulate clients and services on virtual time" },
    { "store", cmd_store, "list, show and remove idempotency records" },
    { "top", cmd_top, "watch the dependencies of a running program" },
    { "demo", cmd_demo, "run a real outage on loopback, with a dashboard" },
    { "export", cmd_export,
      "convert a policy to Istio, Envoy, the Gateway API or gRPC" },
    { "import", cmd_import, "convert a policy from Istio, Envoy or gRPC" },
};

enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void print_help(FILE *out)
{
    struct paint p = paint_for(out);
    int width = terminal_width(out);

    fprintf(out, "%sUsage:%s bide COMMAND [options]\n\n", p.bold, p.plain);
    bide__print_wrapped(
        out, "Retries with restraint: one policy decides every retry.", 0, 0,
        width);
    fprintf(out, "\n%sCommands:%s\n", p.bold, p.plain);
    for (int i = 0; i < N_COMMANDS; i++) {
        fprintf(out, "  %s%-10s%s", p.bold, commands[i].name, p.plain);
        bide__print_wrapped(out, commands[i].summary, 12, 12, width);
    }
    fprintf(out, "\n%sOptions:%s\n", p.bold, p.plain);
    fprintf(out, "  -h, --help     show this page\n"
                 "      --version  show the version\n\n");
    bide__print_wrapped(
        out,
        "`bide help COMMAND` shows the options of one command. Exit "
        "codes: 0 success, 1 the answer is no, 2 an error in the "
        "arguments or in a policy.",
        0, 0, width);
}

static const struct command *find(const char *name)
{
    for (int i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static int unknown(const char *name)
{
    static const char *const flags[] = { "--help", "--version", NULL };
    const char *names[N_COMMANDS + 2];
    bool is_flag = name[0] == '-';

    for (int i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i].name;
    names[N_COMMANDS] = "help";
    names[N_COMMANDS + 1] = NULL;
    complain(NULL, "unknown %s `%s`", is_flag ? "option" : "command", name);
    suggest(name, is_flag ? flags : names);
    fprintf(stderr, "  see `bide --help`\n");
    return EXIT_USAGE;
}

static int help_on(const char *name)
{
    const struct command *c = find(name);
    char command[32], flag[] = "--help";
    char *argv[] = { command, flag, NULL };

    if (!c)
        return unknown(name);
    snprintf(command, sizeof command, "%s", name);
    return c->run(2, argv);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "help") == 0 && argc > 2)
        return help_on(argv[2]);
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 ||
        strcmp(name, "-h") == 0) {
        print_help(stdout);
        return EXIT_OK;
    }
    if (strcmp(name, "--version") == 0) {
        printf("bide %s\n", bide_version());
        return EXIT_OK;
    }
    const struct command *c = find(name);
    return c ? c->run(argc - 1, argv + 1) : unknown(name);
}

int main(int argc, char **argv)
{
    hold_standard_files();
    /* Numbers keep their dot. `run` adds to the time of every command that it
     * runs, and sets the locale itself when it needs one. */
    if (argc < 2 || strcmp(argv[1], "run") != 0)
        setlocale(LC_CTYPE, "");
    int rc = dispatch(argc, argv);

    /* Detects a full disk here, instead of leaving it to the reader of the
     * file. */
    if (fflush(stdout) != 0 || ferror(stdout))
        return complain(NULL, "cannot write the output: %s", strerror(errno));
    return rc;
}
