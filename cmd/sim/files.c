/* The files of --csv, --html and --svg. */
#include "cmd/sim/files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/common/output.h"

static bool is_stdout(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

bool prints_for_people(const struct sim_ask *ask)
{
    return !ask->quiet && !ask->json && !is_stdout(ask->csv) &&
           !is_stdout(ask->html) && !is_stdout(ask->svg);
}

FILE *file_open(const char *flag, const char *path)
{
    FILE *out = is_stdout(path) ? stdout : fopen(path, "w");

    if (!out)
        complain("sim", "--%s: %s: %s", flag, path, strerror(errno));
    return out;
}

bool csv_is_directory(const char *path)
{
    struct stat st;
    size_t len = strlen(path);

    return (len > 0 && path[len - 1] == '/') ||
           (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

FILE *csv_open(const char *path, const char *name)
{
    char joined[4096];

    if (!is_stdout(path) && csv_is_directory(path)) {
        mkdir(path, 0777); /* opening the file reports errors */
        snprintf(joined, sizeof joined, "%s/%s", path, name);
        path = joined;
    }
    return file_open("csv", path);
}

int file_close(const char *flag, const char *path, FILE *out, bool bad)
{
    bad = fflush(out) != 0 || ferror(out) || bad;
    if (out != stdout)
        bad = fclose(out) != 0 || bad;
    return bad ? complain("sim", "--%s: %s: cannot be written", flag, path)
               : -1;
}

struct sim_page_context page_context(const struct sim_ask *ask, char **command)
{
    /* A fixed file name: the bytes must not depend on the real one. */
    if (asprintf(command, "%s --html report.html", ask->command) < 0)
        *command = NULL;
    return (struct sim_page_context){ .command =
                                          *command ? *command : ask->command,
                                      .version = bide_version() };
}
