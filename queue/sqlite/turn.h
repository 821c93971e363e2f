/* queue/sqlite/turn.h: whose turn it is among messages with one key. */
#ifndef BIDE_QUEUE_SQLITE_TURN_H
#define BIDE_QUEUE_SQLITE_TURN_H

#include "queue/sqlite/db.h"

/* The first of a key's messages has left: the next becomes ready, when it is
 * due. Workers are told. 0 or a status. */
static inline int turn_of_key(struct sqlite_broker *s, int64_t queue,
                              const char *key)
{
    sqlite3_stmt *q = db_statement(s, SQL_KEYS_TURN);

    if (!q)
        return db_failed(s);
    sqlite3_bind_int64(q, 1, queue);
    sqlite3_bind_text(q, 2, key, -1, SQLITE_STATIC);
    s->ring = true;
    return db_run(s, q);
}

#endif
