/* bide top: every dependency of a running program at a glance. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bide/config.h"
#include "bide/run.h"
#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/top/command.h"
#include "cmd/top/fetch.h"
#include "cmd/top/screen.h"
#include "cmd/top/top.h"
#include "config/field/rows.h"

static const struct flag list[] = {
    { "once", 0, NULL, "print it once, and end" },
    { "json", 0, NULL, "print the state as it comes, once" },
    { "interval", 'i', "D", "how often to look (1s)" },
    { "cacert", 0, "FILE", "for https://: trust the authorities in this file" },
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    "bide top [options] [ADDRESS]",
    "Shows the dependencies of a program that runs, as its admin endpoint "
    "tells: "
    "over the last second the calls, how many succeed at the first attempt and "
    "in the end, attempts per call, retries and hedges, what is left of the "
    "budget, the breaker; and the last decisions. ADDRESS is that of the admin "
    "endpoint: 127.0.0.1:9901 unless given, or only a port, or unix:PATH, or "
    "https://NAME:PORT.",
    list,
    "Keys: q ends, space stops and goes on. Without a terminal it is printed "
    "once.\nExit codes: 0, 1 nobody answers there, 2 a mistake in the "
    "arguments.",
};

struct top {
    bool once, json;
    int64_t interval_ns;
    struct top_place place;
    struct top_state state;
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

/* Fetches and reads the state; false, and why. */
static bool look_at(struct top *t, char *why, size_t size)
{
    size_t len;
    char *json = top_fetch(&t->place, "/api/state", &len, why, size);
    bool fine = json && top_state_read(&t->state, json, len, why, size);

    free(json);
    return fine;
}

static int print_json(const struct top *t)
{
    char why[256];
    size_t len;
    char *json = top_fetch(&t->place, "/api/state", &len, why, sizeof why);

    if (!json) {
        complain("top", "%s", why);
        return EXIT_FINDINGS;
    }
    fwrite(json, 1, len, stdout);
    free(json);
    return EXIT_OK;
}

static int print_once(struct top *t)
{
    char why[256];
    struct top_look look = {
        terminal_width(stdout), 0,   use_utf8(), paint_for(stdout),
        t->place.text,          NULL
    };

    if (!look_at(t, why, sizeof why)) {
        complain("top", "%s", why);
        return EXIT_FINDINGS;
    }
    top_show(stdout, &t->state, &look, "\n");
    return EXIT_OK;
}

/* ===== on a terminal ===== */

static int terminal_height(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0)
        return size.ws_row;
    return 24;
}

static void draw(const struct top *t, const char *status)
{
    struct top_look look = {
        terminal_width(stdout), terminal_height(), use_utf8(),
        paint_for(stdout),      t->place.text,     status
    };

    fputs("\033[H", stdout);
    top_show(stdout, &t->state, &look, "\033[K\n");
    fputs("\033[J", stdout);
    fflush(stdout);
}

/* Runs until a key or a signal ends it. If the program goes away, this waits
 * for it and keeps showing the last state. */
static void show_until_quit(struct top *t)
{
    bool paused = false, draw_now = false;
    int64_t due = bide_now_ns() + t->interval_ns;
    char why[256] = "";

    draw(t, NULL);
    for (;;) {
        int64_t left = due - bide_now_ns();
        int key =
            top_screen_key(left > 0 ? (int)(left / BIDE_MILLISECOND) + 1 : 0);
        if (key < 0 || key == 'q' || key == 'Q')
            return;
        if (key == ' ' || key == 'p')
            paused = !paused;
        if (bide_now_ns() >= due) {
            if (!paused && look_at(t, why, sizeof why))
                why[0] = '\0';
            due = bide_now_ns() + t->interval_ns;
            draw_now = true;
        }
        draw_now |= key != 0;
        if (draw_now || left > 0) /* a resize wakes it, too */
            draw(t, paused ? "paused" : why[0] ? why : NULL);
        draw_now = false;
    }
}

int cmd_top(int argc, char **argv)
{
    static struct top t; /* too large for the stack */
    char why[256];
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
    if (t.once || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
        return print_once(&t);
    if (!look_at(&t, why, sizeof why)) {
        complain("top", "%s", why);
        return EXIT_FINDINGS;
    }
    top_screen_init();
    show_until_quit(&t);
    top_screen_done();
    return EXIT_OK;
}
