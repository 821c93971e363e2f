-- The tables of a queue in SQLite as version 1 had them, for upgrade.py.
CREATE TABLE clock( one INTEGER PRIMARY KEY CHECK(one = 1), boot TEXT NOT NULL,
    offset_ns INTEGER NOT NULL, last_ms INTEGER NOT NULL);
CREATE TABLE queue(n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE worker( n INTEGER PRIMARY KEY AUTOINCREMENT, queue INTEGER NOT NULL, pid
    INTEGER NOT NULL, beat INTEGER NOT NULL DEFAULT 0);
CREATE TABLE message( seq INTEGER PRIMARY KEY AUTOINCREMENT, queue INTEGER NOT NULL, id
    TEXT NOT NULL, key TEXT, state INTEGER NOT NULL, suspect INTEGER NOT NULL DEFAULT 0,
    priority INTEGER NOT NULL, again INTEGER NOT NULL DEFAULT 0, due_ms INTEGER NOT
    NULL, queued_ms INTEGER NOT NULL, attempt INTEGER NOT NULL DEFAULT 0, deliveries
    INTEGER NOT NULL DEFAULT 0, deaths INTEGER NOT NULL DEFAULT 0, generation INTEGER
    NOT NULL DEFAULT 0, worker INTEGER, died_ms INTEGER, reason TEXT, cls TEXT, tail
    BLOB, errors TEXT, attributes BLOB, body BLOB NOT NULL);
CREATE UNIQUE INDEX message_id ON message(queue, id);
CREATE INDEX message_ready ON message(queue, suspect, priority, again, due_ms) WHERE
    state = 0;
CREATE INDEX message_running ON message(worker) WHERE state = 1;
CREATE INDEX message_key ON message(queue, key) WHERE key IS NOT NULL AND state < 3;
CREATE INDEX message_held ON message(queue, due_ms) WHERE state = 2;
CREATE INDEX message_dead ON message(queue, died_ms) WHERE state = 3;
PRAGMA user_version = 1;
PRAGMA application_id = 0x62696465;
