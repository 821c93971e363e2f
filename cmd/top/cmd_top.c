/* bide top: every dependency of a running program at a glance. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bide/config.h"
#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/top/command.h"
#include "cmd/top/fetch.h"
#include "cmd/top/screen.h"
#include "cmd/top/ui.h"
#include "config/field/rows.h"

static const struct flag list[] = {
    { "once", 0, NULL, "print the list once, and exit" },
    { "json", 0, NULL, "print the state once, as JSON" },
    { "interval", 'i', "D", "how often to poll (1s)" },
    { "cacert", 0, "FILE", "for https://: trust the authorities in this file" },
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    "bide top [options] [ADDRESS]",
    "Shows the dependencies of a running program, the worst first: their "
    "calls, how many succeed at the first attempt and in the end, retries, "
    "budget, endpoints and breaker, each over the last second, and the last "
    "decisions. Enter opens the page of one; letters filter by name. ADDRESS "
    "is that of the program's admin endpoint: 127.0.0.1:9901 unless given, or "
    "only a port, or unix:PATH, or https://NAME:PORT.",
    list,
    "Keys: arrows select, enter opens, esc goes back, letters or / filter, < "
    "and > change the order, space pauses, ? shows help, q quits. Without a "
    "terminal the list is printed once.\n\n"
    "Exit codes: 0 the state was shown, 1 no admin endpoint answers at that "
    "address, 2 an error in the arguments.\n\n"
    "Examples:\n"
    "  bide top\n"
    "  bide top 127.0.0.1:9901 --once",
};

#define S struct top
static const struct bide__field fields[] = {
    { "once", AT(once), TAKES_FLAG },
    { "json", AT(json), TAKES_FLAG },
    { "cacert", AT(place.ca), TAKES_FILE },
    { "interval", AT(interval_ns), TAKES_DURATION_FROM(100, ms, 1, h) },
    LAST
};
#undef S
static const struct bide__table table = { .fields = fields };

static const char *take_flag(void *ctx, const char *name, const char *argument)
{
    const char *expected;

    return field_flag(&table, ctx, name, argument, &expected) < 0 ? expected
                                                                  : NULL;
}

static int fail(const char *why)
{
    complain("top", "%s", why);
    if (strstr(why, strerror(ECONNREFUSED)))
        fprintf(stderr,
                "  is the program running, and does it have an admin "
                "endpoint there? (`admin: 127.0.0.1:9901` in its file)\n");
    return EXIT_FINDINGS;
}

static int print_json(const struct top *t)
{
    char why[256];
    size_t len;
    char *json = top_fetch(&t->place, "/api/state", &len, why, sizeof why);

    if (!json)
        return fail(why);
    fwrite(json, 1, len, stdout);
    free(json);
    return EXIT_OK;
}

static int print_once(struct top *t)
{
    char why[256];
    struct top_look look = { .width = terminal_width(stdout),
                             .utf8 = use_utf8(),
                             .paint = paint_for(stdout),
                             .place = t->place.text,
                             .reverse = "" };

    top_begin(t);
    if (!top_look_at(t, why, sizeof why))
        return fail(why);
    top_draw(stdout, t, &look);
    return EXIT_OK;
}

static int show_on_terminal(struct top *t)
{
    char why[256];

    top_begin(t);
    if (!top_look_at(t, why, sizeof why))
        return fail(why);
    top_screen_init();
    top_run(t);
    top_screen_done();
    return EXIT_OK;
}

int cmd_top(int argc, char **argv)
{
    static struct top t; /* too large for the stack */
    int first;

    t.interval_ns = BIDE_SECOND;
    int rc = flags_parse(&flags, argc, argv, take_flag, &t, &first);
    if (rc >= 0)
        return rc;
    const char *address = first < argc ? argv[first] : "127.0.0.1:9901";
    if (first + 1 < argc)
        return complain("top", "unexpected `%s`", argv[first + 1]);
    if (!top_place_read(&t.place, address))
        return complain("top",
                        "found `%s`, expected a port or an address and a port, "
                        "as 127.0.0.1:9901, or unix:PATH, or https://NAME:PORT",
                        address);
    if (t.json)
        return print_json(&t);
    rc = t.once || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO)
             ? print_once(&t)
             : show_on_terminal(&t);
    top_done(&t);
    return rc;
}
