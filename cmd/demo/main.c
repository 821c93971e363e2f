/* bide demo: a real outage on loopback, met by four ways to retry. A program of
 * its own, which `bide demo` executes (exec.c). */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bide/run.h"
#include "cmd/common/files.h"
#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/demo/result.h"
#include "cmd/demo/show.h"
#include "cmd/demo/stage.h"

extern char **environ;

enum {
    EXIT_CANNOT = 1,
    EXIT_INTERRUPTED = 130, /* as in shells: 128 + SIGINT */
    FRAME_MS = 200,
    LINES = 15, /* for the timetable, without a terminal */
};

static const struct flag flag_list[] = {
    { "seconds", 's', "N", "how long; under 30 the same in small (30)" },
    { "keep", 0, NULL, "keep running until Ctrl-C, outage after outage" },
    { "json", 0, NULL, "print the figures as JSON, and nothing else" },
    { "listen", 'l', "ADDRESS", "where the dashboard is (127.0.0.1:9901)" },
    { "no-dashboard", 0, NULL, "serve none" },
    { "open", 0, NULL, "open the dashboard in a browser" },
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    "bide demo [options]",
    "A real outage, on loopback: four servers that hang, crash and come back "
    "on a timetable, and in front of each a fleet of clients that retry in "
    "their own way: at once; after growing waits; at random times; and with a "
    "budget and a breaker as well. The engine makes every decision, and a "
    "dashboard shows it live. At the end there is a table of the results.",
    flag_list,
    "It needs no network, and leaves nothing behind. goodput is calls that "
    "succeed; load is requests that reach the origin.\n\n"
    "Exit codes: 0 it ran to its end (with --keep: to the end of the first "
    "timetable), 1 it could not run, 2 an error in the arguments, 130 it was "
    "interrupted; what is known by then is printed.",
};

struct args {
    double seconds;
    bool keep, json, no_dashboard, open;
    const char *listen;
};

static const char *take(void *ctx, const char *name, const char *argument)
{
    struct args *a = ctx;
    char *end;

    if (strcmp(name, "keep") == 0)
        a->keep = true;
    else if (strcmp(name, "json") == 0)
        a->json = true;
    else if (strcmp(name, "no-dashboard") == 0)
        a->no_dashboard = true;
    else if (strcmp(name, "open") == 0)
        a->open = true;
    else if (strcmp(name, "listen") == 0)
        a->listen = argument;
    else {
        a->seconds = strtod(argument, &end);
        if (end == argument || *end || !(a->seconds >= DEMO_SHORTEST) ||
            a->seconds > DEMO_LONGEST)
            return "a number of seconds from 4 to 3600";
    }
    return NULL;
}

/* ===== signals ===== */

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

/* Only the output thread handles these signals, and only while it sleeps, so
 * that they do not interrupt the other threads. */
static void handle_signals(sigset_t *ret_before)
{
    struct sigaction sa = { .sa_handler = on_signal };
    sigset_t mine;

    sigemptyset(&mine);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        sigaction(signals[i], &sa, NULL);
        sigaddset(&mine, signals[i]);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN); /* do not wait for the browser */
    pthread_sigmask(SIG_BLOCK, &mine, ret_before);
}

/* Sleeps until a time, or a signal. */
static void sleep_until(int64_t at_ns, const sigset_t *mask)
{
    int64_t left = at_ns - bide_now_ns();
    struct timespec t = { left / BIDE_SECOND, left % BIDE_SECOND };

    if (left > 0 && !interrupted)
        pselect(0, NULL, NULL, NULL, &t, mask);
}

/* ===== output ===== */

struct show {
    struct args args;
    struct demo_stage stage;
    sigset_t mask; /* signal mask while it sleeps */
    bool drawn;    /* charts, not lines */
};

static const char *url_of(const struct show *s)
{
    return s->args.no_dashboard ? NULL : s->stage.dashboard.url;
}

/* Opens the page in a browser. If that fails, the address has been printed. */
static void open_page(const char *url, const sigset_t *mask)
{
    char program[] = "xdg-open", page[192];
    char *argv[] = { program, page, NULL };
    posix_spawn_file_actions_t quiet;
    posix_spawnattr_t as_before;
    sigset_t changed;
    pid_t pid;

    snprintf(page, sizeof page, "%s", url);
    sigemptyset(&changed);
    sigaddset(&changed, SIGPIPE);
    sigaddset(&changed, SIGCHLD);
    posix_spawnattr_init(&as_before);
    posix_spawnattr_setflags(&as_before,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&as_before, mask);
    posix_spawnattr_setsigdefault(&as_before, &changed);
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", 1, 0);
    posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", 1, 0);
    if (posix_spawnp(&pid, program, &quiet, &as_before, argv, environ) != 0)
        complain("demo", "xdg-open is not there to open %s", url);
    posix_spawn_file_actions_destroy(&quiet);
    posix_spawnattr_destroy(&as_before);
}

/* Shows what happens until `until_ns` after the start, or a signal. */
static void show_until(struct show *s, struct demo_view *view, int64_t until_ns)
{
    int64_t length = s->stage.demo.plan.length_ns;
    int64_t step =
        s->drawn ? FRAME_MS * BIDE_MILLISECOND : (length + LINES - 1) / LINES;
    int64_t at = bide_now_ns() - s->stage.demo.start_ns;

    at -= at % step;
    for (;;) {
        if (s->drawn)
            demo_view_draw(view, at);
        if (interrupted || ferror(stdout) || at >= until_ns)
            return;
        at = at + step < until_ns ? at + step : until_ns;
        sleep_until(s->stage.demo.start_ns + at, &s->mask);
        if (!s->drawn && !s->args.json && !interrupted)
            demo_print_line(stdout, &s->stage.demo, at);
    }
}

static bool conclude(struct show *s)
{
    struct demo_result r[DEMO_FLEETS];
    int64_t at = bide_now_ns() - s->stage.demo.start_ns;
    bool whole = true;

    for (unsigned i = 0; i < DEMO_FLEETS; i++)
        demo_result(&r[i], &s->stage.demo.fleets[i], at);
    if (s->args.json)
        whole = demo_print_json(stdout, &s->stage.demo, r, interrupted != 0);
    else
        demo_print_table(stdout, r);
    fflush(stdout);
    return whole;
}

static int play(struct show *s)
{
    struct demo_view view = { .demo = &s->stage.demo, .keep = s->args.keep };

    s->drawn = !s->args.json && demo_view_possible(stdout);
    if (s->args.json && url_of(s))
        fprintf(stderr, "bide demo: dashboard at %s\n", url_of(s));
    if (!s->args.json)
        demo_print_head(stdout, &s->stage.demo, url_of(s));
    if (!s->args.json && !s->drawn)
        demo_print_columns(stdout);
    if (s->args.open && url_of(s))
        open_page(url_of(s), &s->mask);
    show_until(s, &view, s->stage.demo.plan.length_ns);
    bool early = interrupted;
    if (!conclude(s)) {
        complain("demo", "no memory");
        return EXIT_CANNOT;
    }
    if (early)
        return EXIT_INTERRUPTED;
    if (s->args.keep) {
        view.lines = 0;
        if (!s->args.json)
            putchar('\n');
        show_until(s, &view, DEMO_DAY_S * BIDE_SECOND);
    }
    return EXIT_OK;
}

static int demo(int argc, char **argv)
{
    static struct show s = { .args.seconds = DEMO_SECONDS };
    int rc = flags_parse(&flags, argc, argv, take, &s.args, NULL);

    if (rc >= 0)
        return rc;
    if (s.args.no_dashboard && (s.args.open || s.args.listen))
        return complain("demo", "--no-dashboard and --%s exclude each other",
                        s.args.open ? "open" : "listen");
    handle_signals(&s.mask);
    rc = EXIT_CANNOT;
    if (demo_stage_init(&s.stage, s.args.seconds, s.args.keep,
                        !s.args.no_dashboard, s.args.listen))
        rc = play(&s);
    demo_stage_done(&s.stage);
    return rc;
}

int main(int argc, char **argv)
{
    static char name[] = "demo";
    static char buffer[1 << 16]; /* one write() per picture: no flicker */

    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    hold_standard_files();
    setlocale(LC_CTYPE, "");
    if (argc < 1)
        return EXIT_USAGE;
    argv[0] = name;
    int rc = demo(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout))
        return complain(NULL, "cannot write the output: %s", strerror(errno));
    return rc;
}
