/* bide worker: takes messages from a queue and hands each to a handler. A program of
 * its own, which `bide worker` executes (exec.c). Here: arguments and subcommands;
 * run.c works. */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "bide/config.h"
#include "cmd/common/files.h"
#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/worker/look.h"
#include "cmd/worker/redrive.h"
#include "cmd/worker/settings.h"
#include "cmd/worker/worker.h"

static const struct flag flag_list[] = {
    PLACE_FLAGS,
    { "create", 0, NULL,
      "make the queue, although one with a similar name exists" },
    { "to", 't', "URL",
      "POST each message there, instead of running a command" },
    { "at-once", 'n', "N",
      "how many messages to handle at the same time (twice the cores for "
      "commands, 16 for URLs)" },
    { "until-empty", 0, NULL,
      "exit when the queue is empty: 0, or 1 if a message died" },
    { "retry-on", 0, "CODES",
      "retry on these exit codes only, such as 1,75,100-110 (all)" },
    { "stop-on", 0, "CODES", "do not retry on these exit codes (65)" },
    { "drain", 0, "D",
      "how long running handlers may take once the worker is told to stop "
      "(25s)" },
    { "kill-after", 0, "D",
      "how long a command that is told to stop may take before it is killed "
      "(5s)" },
    { "admin", 0, "ADDRESS",
      "serve /metrics, /healthz and the dashboard at this address, such as "
      "127.0.0.1:9902, or a port of 127.0.0.1" },
    { "fleet", 0, "URL/NAME",
      "share budget and breaker with a fleet, through Redis: "
      "redis://127.0.0.1:6379/shop" },
    { "otlp", 0, "URL",
      "send spans and metrics to this OpenTelemetry collector, such as "
      "http://127.0.0.1:4318" },
    { "sample", 0, "RATIO",
      "the share of the messages without a traceparent that are traced (0)" },
    { "quiet", 0, NULL, "print no messages" },
    { "verbose", 'v', NULL, "report each attempt" },
    { "json", 0, NULL, "report in JSON, one object per line" },
    POLICY_FLAGS,
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    "bide worker [options] [--] COMMAND [ARGUMENT...]\n"
    "bide worker [options] --to URL\n"
    "bide worker ls | show ID | redrive | check [options]",
    "Takes messages from a queue, where `bide enqueue` puts them, and hands "
    "each to a handler: a command, which reads the body on its standard "
    "input, or a URL (--to). Exit code 0 means done, 65 that no retry can "
    "help; anything else is retried, up to 15 attempts in about a day. A "
    "message that failed for good is kept as dead. While the handler itself "
    "is down, consumption pauses, and attempts do not count.",
    flag_list,
    "The environment of the command has BIDE_QUEUE, BIDE_MESSAGE_ID, "
    "BIDE_MESSAGE_KEY, BIDE_IDEMPOTENCY_KEY, BIDE_ATTEMPT, BIDE_ATTEMPTS, "
    "BIDE_DELIVERY, and each attribute as BIDE_ATTR_NAME.\n\n"
    "Subcommands, each with --help: `ls` lists the queue, `show ID` shows one "
    "message, `redrive` brings dead messages back, `check` compares the "
    "policy with the queue. Put `--` before a handler with one of these "
    "names.\n\n"
    "Signals: at SIGTERM or SIGINT, running handlers may finish (--drain); "
    "what remains is given back to the queue, at once after a second "
    "signal.\n\n"
    "Exit codes: 0 stopped, or the queue is empty, 1 a message died "
    "(--until-empty), 2 an error in the arguments, no handler, or no broker: "
    "no message was taken.\n\n"
    "Examples:\n"
    "  bide worker -v -- ./handle\n"
    "  bide worker --queue mail --to http://127.0.0.1:8080/mail\n"
    "  bide worker -c worker.yaml\n"
    "  bide worker --until-empty -- sh -c '(cat; echo) >> all.txt'",
};

/* ===== flags ===== */

static const char *take_number(struct worker_args *a, const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);

    if (end == text || *end || n < 1 || n > 1000)
        return "a number from 1 to 1000";
    a->at_once = (uint32_t)n;
    return NULL;
}

static const char *take_duration(int64_t *to, const char *text)
{
    return bide_parse_duration(text, strlen(text), to) == 0
               ? NULL
               : "a duration, such as 25s or 2m";
}

static const char *take_ratio(double *to, const char *text)
{
    return bide_parse_ratio(text, strlen(text), to) == 0 && *to >= 0 && *to <= 1
               ? NULL
               : "a ratio from 0 to 1, such as 1% or 0.5";
}

static const char *take_codes(struct bide__codes *to, const char *text)
{
    return bide__codes_read(to, text, 1)
               ? NULL
               : "exit codes from 1 to 255, such as 1,75,100-110";
}

/* A port is one on this machine, as for `bide top`. */
static const char *take_admin(struct worker_args *a, const char *text)
{
    uint16_t port;

    if (bide__port(text, strlen(text), &port)) {
        snprintf(a->admin_port, sizeof a->admin_port, "127.0.0.1:%u", port);
        text = a->admin_port;
    }
    a->admin = text;
    return NULL;
}

static const char *take_own(struct worker_args *a, const char *name,
                            const char *argument)
{
    if (strcmp(name, "to") == 0)
        a->to = argument;
    else if (strcmp(name, "at-once") == 0)
        return take_number(a, argument);
    else if (strcmp(name, "retry-on") == 0)
        return take_codes(&a->retry_on, argument);
    else if (strcmp(name, "stop-on") == 0)
        return take_codes(&a->stop_on, argument);
    else if (strcmp(name, "drain") == 0)
        return take_duration(&a->drain_ns, argument);
    else if (strcmp(name, "kill-after") == 0)
        return take_duration(&a->kill_after_ns, argument);
    else if (strcmp(name, "admin") == 0)
        return take_admin(a, argument);
    else if (strcmp(name, "fleet") == 0)
        return fleet_flag_read(&a->fleet, argument) ? NULL
                                                    : FLEET_FLAG_EXPECTED;
    else if (strcmp(name, "otlp") == 0)
        a->otlp = argument;
    else if (strcmp(name, "sample") == 0)
        return take_ratio(&a->sample, argument);
    else if (strcmp(name, "create") == 0)
        a->place.create = true;
    else if (strcmp(name, "until-empty") == 0)
        a->until_empty = true;
    else if (strcmp(name, "quiet") == 0)
        a->quiet = true;
    else if (strcmp(name, "verbose") == 0)
        a->verbose = true;
    else
        a->json = true;
    return NULL;
}

static const char *take(void *ctx, const char *name, const char *argument)
{
    struct worker_args *a = ctx;
    const char *expected = NULL;
    int taken = place_flag(&a->place, name, argument, &expected);

    if (taken == 0)
        taken = policy_flag(&a->policy, name, argument, &expected);
    if (taken == 0)
        return take_own(a, name, argument);
    return taken < 0 ? expected : NULL;
}

/* ===== subcommands ===== */

static int check_it(int argc, char **argv, struct worker_args *a)
{
    int rc = worker_settle(a);

    return rc < 0 ? worker_check_command(argc, argv, a) : rc;
}

/* One of them, if that is what the operand is: an exit code, else -1. */
static int subcommand(int argc, char **argv, struct worker_args *a)
{
    static char names[][16] = { "worker ls", "worker show", "worker redrive",
                                "worker check" };
    size_t i = 0;

    while (i < 4 && strcmp(argv[0], names[i] + sizeof "worker") != 0)
        i++;
    if (i == 4)
        return -1;
    argv[0] = names[i]; /* what errors in its arguments begin with */
    switch (i) {
    case 0:
        return worker_ls(argc, argv, &a->place);
    case 1:
        return worker_show(argc, argv, &a->place);
    case 2:
        return worker_redrive(argc, argv, &a->place);
    default:
        return check_it(argc, argv, a);
    }
}

static int work(int argc, char **argv, int first, struct worker_args *a)
{
    bool plain = first < argc && strcmp(argv[first - 1], "--") != 0;
    int rc = plain ? subcommand(argc - first, argv + first, a) : -1;

    if (rc >= 0)
        return rc;
    if (first < argc)
        a->command = argv + first;
    if (a->command && a->to)
        return complain("worker", "expected a command or --to URL, not both");
    rc = worker_settle(a);
    if (rc < 0 && !a->command && !a->to) {
        complain("worker", "expected a handler: a command, or --to URL");
        fprintf(stderr, "  see `bide worker --help`\n");
        return EXIT_USAGE;
    }
    return rc < 0 ? worker_run(a) : rc;
}

int main(int argc, char **argv)
{
    struct worker_args args = { .place = QUEUE_PLACE_INIT,
                                .policy = POLICY_CHOICE_INIT,
                                .drain_ns = -1,
                                .kill_after_ns = -1,
                                .sample = -1 };
    int first, rc;

    hold_standard_files();
    setlocale(LC_CTYPE, "");
    args.policy.command = argv[0];
    bide_policy_preset(&args.policy.conf, "queue");
    rc = flags_parse_command(&flags, argc, argv, take, &args, &first);
    if (rc < 0)
        rc = work(argc, argv, first, &args);
    policy_done(&args.policy);
    place_done(&args.place);
    if (fflush(stdout) != 0 || ferror(stdout))
        return complain("worker", "cannot write the output: %s",
                        strerror(errno));
    return rc;
}
