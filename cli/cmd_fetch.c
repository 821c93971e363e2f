/* bide fetch is another program, bide-fetch, that this one becomes: libcurl
 * brings some thirty libraries along, and to load them takes longer than all of
 * `bide run -- true`. It lies beside this one, or where it was installed to,
 * also if the whole of that was moved. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static void become(const char *directory, const char *below, char **argv)
{
    char path[4200];

    snprintf(path, sizeof path, "%s%s/bide-fetch", directory, below);
    execv(path, argv);
}

int cmd_fetch(int argc, char **argv)
{
    char here[4096];
    ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);

    (void)argc;
    if (n > 0) {
        here[n] = '\0';
        *strrchr(here, '/') = '\0';
        become(here, "", argv);
        become(here, "/../libexec/bide", argv);
    }
    become(FETCH_DIR, "", argv);
    return complain("fetch", "%s/bide-fetch: %s", FETCH_DIR, strerror(errno));
}
