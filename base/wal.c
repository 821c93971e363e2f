/* wal.c: by the numbers of the files, as SQLite does it for the database itself. */
#include "base/wal.h"

#include <stdio.h>
#include <sys/stat.h>

enum { LONGEST = 4096 + sizeof "-wal" };

bool bide__wal_moved(struct bide__wal *w, const char *file)
{
    static const char *const ends[2] = { "-wal", "-shm" };
    struct bide__wal now = { .known = true };
    char path[LONGEST];
    struct stat st;

    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s%s", file, ends[i]);
        if (stat(path, &st) < 0)
            return w->known;
        now.dev[i] = st.st_dev;
        now.ino[i] = st.st_ino;
    }
    if (!w->known)
        *w = now;
    return now.dev[0] != w->dev[0] || now.ino[0] != w->ino[0] ||
           now.dev[1] != w->dev[1] || now.ino[1] != w->ino[1];
}
