/* A file that is touched, and inotify. */
#include "queue/sqlite/bell.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "bide/policy.h"
#include "queue/sqlite/db.h"

void bell_open(struct sqlite_broker *s, int listen)
{
    size_t size = strlen(s->path) + sizeof "-bell";
    char *path = malloc(size);

    s->bell = s->ear = -1;
    if (!path)
        return;
    snprintf(path, size, "%s-bell", s->path);
    s->bell = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (listen && s->bell >= 0) {
        s->ear = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (s->ear >= 0 && inotify_add_watch(s->ear, path, IN_MODIFY) < 0) {
            close(s->ear);
            s->ear = -1;
        }
    }
    free(path);
}

void bell_ring(struct sqlite_broker *s)
{
    if (s->bell >= 0)
        (void)!pwrite(s->bell, "!", 1, 0);
}

void bell_close(struct sqlite_broker *s)
{
    if (s->ear >= 0)
        close(s->ear);
    if (s->bell >= 0)
        close(s->bell);
}

int bell_fd(struct broker *b, int64_t *ret_poll_ns)
{
    struct sqlite_broker *s = (struct sqlite_broker *)b;

    *ret_poll_ns = s->ear >= 0 ? 5 * BIDE_SECOND : BIDE_SECOND / 4;
    return s->ear;
}

void bell_heard(struct broker *b)
{
    struct sqlite_broker *s = (struct sqlite_broker *)b;
    char events[4096];

    while (s->ear >= 0 && read(s->ear, events, sizeof events) > 0)
        ;
}
