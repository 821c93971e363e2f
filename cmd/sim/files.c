/* --html and --svg: the report and the picture. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/sim/cmd.h"

static bool is_stdout(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

bool prints_for_people(const struct sim_ask *ask)
{
    return !ask->quiet && !ask->json && !is_stdout(ask->csv) &&
           !is_stdout(ask->html) && !is_stdout(ask->svg);
}

static FILE *open_file(const char *flag, const char *path)
{
    FILE *out = is_stdout(path) ? stdout : fopen(path, "w");

    if (!out)
        complain("sim", "--%s: %s: %s", flag, path, strerror(errno));
    return out;
}

static int close_file(const char *flag, const char *path, FILE *out, bool bad)
{
    bad = fflush(out) != 0 || ferror(out) || bad;
    if (out != stdout)
        bad = fclose(out) != 0 || bad;
    return bad ? complain("sim", "--%s: %s: cannot be written", flag, path)
               : -1;
}

int html_write(const struct sim_ask *ask, const struct sim_summary *s,
               struct sim_page_context *ctx)
{
    FILE *out = ask->html ? open_file("html", ask->html) : NULL;
    char *command = NULL;
    bool bad;

    if (!out)
        return ask->html ? EXIT_USAGE : -1;
    /* The file's own name is left out: it would be in the bytes. */
    if (asprintf(&command, "%s --html report.html", ask->command) >= 0)
        ctx->command = command;
    bad = sim_page_write(out, s, ctx) < 0;
    ctx->command = NULL;
    free(command);
    return close_file("html", ask->html, out, bad);
}

int svg_write(const struct sim_ask *ask, const struct sim_summary *s)
{
    FILE *out = ask->svg ? open_file("svg", ask->svg) : NULL;

    if (!out)
        return ask->svg ? EXIT_USAGE : -1;
    return close_file("svg", ask->svg, out, sim_page_picture(out, s) < 0);
}
