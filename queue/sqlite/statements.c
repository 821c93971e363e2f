/* All SQL of a queue in SQLite. */
#include "queue/sqlite/statements.h"

/* States: 0 ready or running, 2 behind another one with its key, 3 dead. `again`: it
 * failed before. The partial indexes hold only rows of their state, so that neither
 * dead letters nor those that wait for their key slow down a take.
 *
 * What runs is in `held` of its worker (held.h).
 *
 * Ids that are made here begin with four digits for people, which are random; behind
 * them comes the time. The index has that first, so that messages that were put
 * together are deleted from one page of it, and not each from another one. */
#define BY_ID                                                                  \
    "CREATE UNIQUE INDEX message_id ON message(queue, substr(id, 5), id);"
const char sql_schema[] =
    "CREATE TABLE clock("
    "  one INTEGER PRIMARY KEY CHECK(one = 1), boot TEXT NOT NULL,"
    "  offset_ns INTEGER NOT NULL, last_ms INTEGER NOT NULL);"
    "CREATE TABLE queue(n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE worker("
    "  n INTEGER PRIMARY KEY AUTOINCREMENT, queue INTEGER NOT NULL,"
    "  pid INTEGER NOT NULL, beat INTEGER NOT NULL DEFAULT 0,"
    "  held BLOB NOT NULL DEFAULT x'');"
    "CREATE TABLE message("
    "  seq INTEGER PRIMARY KEY AUTOINCREMENT, queue INTEGER NOT NULL,"
    "  id TEXT NOT NULL, key TEXT, state INTEGER NOT NULL,"
    "  suspect INTEGER NOT NULL DEFAULT 0, priority INTEGER NOT NULL,"
    "  again INTEGER NOT NULL DEFAULT 0, due_ms INTEGER NOT NULL,"
    "  queued_ms INTEGER NOT NULL, attempt INTEGER NOT NULL DEFAULT 0,"
    "  deliveries INTEGER NOT NULL DEFAULT 0,"
    "  deaths INTEGER NOT NULL DEFAULT 0,"
    "  generation INTEGER NOT NULL DEFAULT 0,"
    "  died_ms INTEGER, reason TEXT, cls TEXT, tail BLOB, errors TEXT,"
    "  attributes BLOB, body BLOB NOT NULL);"
    BY_ID
    "CREATE INDEX message_ready ON"
    "  message(queue, suspect, priority, again, due_ms) WHERE state = 0;"
    "CREATE INDEX message_key ON message(queue, key) WHERE key IS NOT NULL"
    "  AND state < 3;"
    "CREATE INDEX message_held ON message(queue, due_ms) WHERE state = 2;"
    "CREATE INDEX message_dead ON message(queue, died_ms) WHERE state = 3;";

/* There, a message that ran had a state of its own. Nobody's worker lives. */
const char sql_from_1[] =
    "UPDATE message SET state = 0 WHERE state = 1;"
    "DROP INDEX message_running; DROP INDEX message_id;"
    "ALTER TABLE message DROP COLUMN worker;"
    "ALTER TABLE worker ADD COLUMN held BLOB NOT NULL DEFAULT x'';"
    BY_ID;

#define COLUMNS                                                                \
    "seq, id, key, priority, attempt, deliveries, deaths, suspect,"            \
    " generation, queued_ms, due_ms, errors, attributes, body"
#define ROW COLUMNS ", state, reason, cls, tail, died_ms"
/* A prefix of an id is a range of the index. The live ones are in the order of their
 * turns: what runs (look.c), what is due, and what is due later. */
#define CHOSEN                                                                 \
    " AND (?2 IS NULL OR (id >= ?2 AND id < ?3)) AND queued_ms >= ?4"          \
    " AND queued_ms < ?5"                                                      \
    " ORDER BY bide_runs(seq) DESC, due_ms > ?7,"                              \
    " CASE WHEN due_ms > ?7 THEN 0 ELSE -priority END, due_ms, seq LIMIT ?6"
#define CHOSEN_DEAD                                                            \
    " AND (?2 IS NULL OR (id >= ?2 AND id < ?3)) AND died_ms >= ?4"            \
    " AND died_ms < ?5 AND (?7 IS NULL OR reason = ?7)"                        \
    " ORDER BY died_ms, seq LIMIT ?6"

static const char *const texts[N_SQL] = {
    [SQL_BEGIN] = "BEGIN IMMEDIATE",
    [SQL_COMMIT] = "COMMIT",
    [SQL_ROLLBACK] = "ROLLBACK",
    [SQL_ADD_QUEUE] = "INSERT OR IGNORE INTO queue(name) VALUES(?1)",
    [SQL_FIND_QUEUE] = "SELECT n FROM queue WHERE name = ?1",
    [SQL_QUEUES] = "SELECT name FROM queue ORDER BY name",
    [SQL_PUT] = "INSERT OR IGNORE INTO message(queue, id, key, state, priority,"
                " due_ms, queued_ms, attributes, body)"
                " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [SQL_KEY_IS_BUSY] = "SELECT 1 FROM message INDEXED BY message_key"
                        " WHERE queue = ?1 AND key = ?2 AND state < 3 LIMIT 1",
    [SQL_LEVEL_BELOW] = "SELECT priority FROM message WHERE state = 0 AND"
                        " queue = ?1 AND suspect = 0 AND priority < ?2"
                        " ORDER BY priority DESC LIMIT 1",
    [SQL_DUE_AT_LEVEL] = "SELECT seq, due_ms FROM message WHERE state = 0 AND"
                         " queue = ?1 AND suspect = 0 AND priority = ?2 AND"
                         " again = ?3 AND due_ms <= ?4 ORDER BY due_ms, seq"
                         " LIMIT ?5",
    [SQL_HEAD_OF_LEVEL] = "SELECT seq, due_ms FROM message WHERE state = 0 AND"
                          " queue = ?1 AND suspect = 0 AND priority = ?3 AND"
                          " again = ?4 ORDER BY due_ms, seq LIMIT ?2",
    [SQL_DUE_SUSPECT] = "SELECT seq, due_ms FROM message WHERE state = 0 AND"
                        " queue = ?1 AND suspect = 1 AND due_ms <= ?3"
                        " ORDER BY due_ms, seq LIMIT ?2",
    [SQL_HEAD_OF_SUSPECTS] = "SELECT seq, due_ms FROM message WHERE state = 0"
                             " AND queue = ?1 AND suspect = 1"
                             " ORDER BY due_ms, seq LIMIT ?2",
    [SQL_TAKE] = "SELECT " COLUMNS " FROM message WHERE seq = ?1",
    [SQL_DONE] = "DELETE FROM message WHERE seq = ?1",
    [SQL_AGAIN] = "UPDATE message SET due_ms = ?2, deliveries = deliveries + 1,"
                  " attempt = attempt + ?3, again = (attempt + ?3 > 0),"
                  " suspect = suspect AND NOT ?4,"
                  " errors = coalesce(?5, errors) WHERE seq = ?1",
    [SQL_BURY] = "UPDATE message SET state = 3, died_ms = ?2,"
                 " deliveries = deliveries + 1,"
                 " attempt = attempt + ?3, reason = ?4, cls = ?5, tail = ?6,"
                 " errors = coalesce(?7, errors), deaths = max(deaths, ?8)"
                 " WHERE seq = ?1",
    [SQL_KEYS_TURN] =
        "UPDATE message SET state = 0 WHERE state = 2 AND seq ="
        " (SELECT min(seq) FROM message INDEXED BY message_key"
        "  WHERE queue = ?1 AND key = ?2 AND state < 3)",
    [SQL_ADD_WORKER] = "INSERT INTO worker(queue, pid) VALUES(?1, ?2)",
    [SQL_BEAT] = "UPDATE worker SET beat = beat + 1 WHERE n = ?1",
    [SQL_WORKERS] = "SELECT n, beat FROM worker WHERE n <> ?1",
    [SQL_FORGET_WORKER] = "DELETE FROM worker WHERE n = ?1",
    [SQL_HELD] = "SELECT n, held FROM worker WHERE queue = ?1",
    [SQL_HELD_BY] = "SELECT held FROM worker WHERE n = ?1",
    [SQL_HOLD] = "UPDATE worker SET held = ?2 WHERE n = ?1",
    [SQL_ONE_HELD] = "SELECT seq, deaths, queue, key, errors, attempt FROM message"
                     " WHERE seq = ?1",
    [SQL_FREE] = "UPDATE message SET deaths = ?2, suspect = ?3,"
                 " deliveries = deliveries + 1 WHERE seq = ?1",
    [SQL_COUNT_STATES] =
        "SELECT (SELECT count(*) FROM message INDEXED BY message_held"
        " WHERE queue = ?1 AND state = 2 AND due_ms <= ?2),"
        " (SELECT min(due_ms) FROM message INDEXED BY message_held"
        " WHERE queue = ?1 AND state = 2 AND due_ms <= ?2),"
        " (SELECT count(*) FROM message INDEXED BY message_held"
        " WHERE queue = ?1 AND state = 2 AND due_ms > ?2)",
    [SQL_OLDEST] = "SELECT seq, due_ms FROM message INDEXED BY message_ready"
                   " WHERE queue = ?1 AND state = 0 ORDER BY due_ms, seq LIMIT ?2",
    [SQL_COUNT_READY] = "SELECT sum(due_ms <= ?2), sum(due_ms > ?2),"
                        " min(CASE WHEN due_ms > ?2 THEN due_ms END)"
                        " FROM message INDEXED BY message_ready"
                        " WHERE queue = ?1 AND state = 0",
    [SQL_COUNT_DEAD] = "SELECT reason, count(*) FROM message WHERE queue = ?1"
                       " AND state = 3 GROUP BY reason ORDER BY 2 DESC",
    [SQL_COUNT_WORKERS] = "SELECT n FROM worker WHERE ?1 IS NULL OR queue = ?1",
    [SQL_LIST_LIVE] = "SELECT " ROW " FROM message WHERE queue = ?1 AND state < 3"
                      CHOSEN,
    [SQL_LIST_DEAD] = "SELECT " ROW " FROM message WHERE queue = ?1 AND state = 3"
                      CHOSEN_DEAD,
    [SQL_REDRIVE] =
        "UPDATE message SET state = CASE WHEN key IS NOT NULL AND EXISTS"
        " (SELECT 1 FROM message AS o WHERE o.queue = message.queue AND"
        "  o.key = message.key AND o.state < 3) THEN 2 ELSE 0 END,"
        " attempt = 0, again = 0, deaths = 0, suspect = (deaths > 0),"
        " due_ms = ?3, generation = generation + ?4, died_ms = NULL,"
        " reason = NULL, cls = NULL, tail = NULL"
        " WHERE queue = ?1 AND substr(id, 5) = substr(?2, 5) AND id = ?2 AND"
        " state = 3",
    [SQL_GET_CLOCK] = "SELECT boot, offset_ns, last_ms FROM clock",
    [SQL_SET_CLOCK] = "INSERT OR REPLACE INTO clock VALUES(1, ?1, ?2, ?3)",
    [SQL_CLOCK_AT] = "UPDATE clock SET last_ms = max(last_ms, ?1)",
};

const char *sql_text(enum sql which)
{
    return texts[which];
}
