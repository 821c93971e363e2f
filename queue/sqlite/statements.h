/* queue/sqlite/statements.h: all SQL of a queue in SQLite, in one place. The texts
 * are in statements.c, each prepared when it is first needed. */
#ifndef BIDE_QUEUE_SQLITE_STATEMENTS_H
#define BIDE_QUEUE_SQLITE_STATEMENTS_H

enum sql {
    SQL_BEGIN,
    SQL_COMMIT,
    SQL_ROLLBACK,
    SQL_ADD_QUEUE,
    SQL_FIND_QUEUE,
    SQL_QUEUES,
    SQL_PUT,
    SQL_KEY_IS_BUSY,
    SQL_LEVEL_BELOW,
    SQL_DUE_AT_LEVEL,
    SQL_HEAD_OF_LEVEL,
    SQL_DUE_SUSPECT,
    SQL_HEAD_OF_SUSPECTS,
    SQL_TAKE,
    SQL_DONE,
    SQL_AGAIN,
    SQL_BURY,
    SQL_KEYS_TURN,
    SQL_ADD_WORKER,
    SQL_BEAT,
    SQL_WORKERS,
    SQL_FORGET_WORKER,
    SQL_HELD,
    SQL_HELD_BY,
    SQL_HOLD,
    SQL_ONE_HELD,
    SQL_FREE,
    SQL_COUNT_STATES,
    SQL_COUNT_READY,
    SQL_OLDEST,
    SQL_COUNT_DEAD,
    SQL_COUNT_WORKERS,
    SQL_LIST_LIVE,
    SQL_LIST_DEAD,
    SQL_REDRIVE,
    SQL_GET_CLOCK,
    SQL_SET_CLOCK,
    SQL_CLOCK_AT,
    N_SQL
};

/* The text of a statement; of the whole schema; and what makes one of a file of
 * version 1. */
const char *sql_text(enum sql which);
extern const char sql_schema[], sql_from_1[];

#endif
