/* The files that SQLite keeps beside a database in WAL mode. Whoever has the database
 * open goes on with them when their names are gone, and whoever opens it next makes new
 * ones: neither sees what the other writes, though both have the same database.
 *
 *     struct bide__wal wal = { 0 };
 *     ...                                    // the database has been opened
 *     if (bide__wal_moved(&wal, "queue.db")) // before each transaction
 *         return -1;                         // queue.db-wal was removed
 */
#ifndef BIDE_BASE_WAL_H
#define BIDE_BASE_WAL_H

#include <stdbool.h>
#include <sys/types.h>

/* Threads: owned. */
struct bide__wal {
    bool known;
    dev_t dev[2];
    ino_t ino[2];
};

/* Whether FILE-wal or FILE-shm are others than at the first call that has found them. */
bool bide__wal_moved(struct bide__wal *w, const char *file);

#endif
