/* The folder for queues. */
#include "queue/state_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "queue/broker.h"

static const char *absolute(const char *name)
{
    const char *value = getenv(name);

    return value && value[0] == '/' ? value : NULL;
}

/* Where XDG_STATE_HOME is given, also for root: whoever sets it means it. */
static int choose(char *to, size_t size)
{
    const char *service = absolute("STATE_DIRECTORY");
    const char *xdg = absolute("XDG_STATE_HOME");
    const char *home = absolute("HOME");

    if (service)
        return snprintf(to, size, "%.*s", (int)strcspn(service, ":"), service);
    if (xdg)
        return snprintf(to, size, "%s/bide", xdg);
    if (geteuid() == 0)
        return snprintf(to, size, "/var/lib/bide");
    if (home)
        return snprintf(to, size, "%s/.local/state/bide", home);
    return -1;
}

/* Each folder of the path that is missing. */
static int make_path(char *path)
{
    for (char *at = path + 1;; at++) {
        if (*at && *at != '/')
            continue;
        char kept = *at;
        *at = 0;
        int rc = mkdir(path, 0700);
        *at = kept;
        if (rc < 0 && errno != EEXIST && (errno != EROFS || !kept))
            return errno;
        if (!kept)
            return 0;
    }
}

/* Whoever may write there could put another file, or a link, in the queue's place.
 * One that is not there yet is nobody's. */
static const char *not_ours(const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return NULL;
    if (st.st_uid != 0 && st.st_uid != geteuid())
        return "belongs to another user";
    return st.st_mode & S_IWOTH ? "may be written by everybody (chmod o-w)"
                                : NULL;
}

int state_dir(char *to, size_t size, bool create, char *error)
{
    static const char scheme[] = "sqlite:";
    size_t begin = sizeof scheme - 1;
    int err = 0;

    memcpy(to, scheme, sizeof scheme);
    int n = choose(to + begin, size - begin);
    if (n < 0) {
        snprintf(error, BROKER_ERROR,
                 "no folder for the queue: set XDG_STATE_HOME, or name a file "
                 "with --broker sqlite:FILE");
        return -1;
    }
    if ((size_t)n + 32 >= size - begin)
        err = ENAMETOOLONG;
    else if (create)
        err = make_path(to + begin);
    const char *why = err ? strerror(err) : not_ours(to + begin);
    if (why)
        snprintf(error, BROKER_ERROR,
                 "%s: %s; name a file with --broker sqlite:FILE", to + begin, why);
    return why ? -1 : 0;
}
