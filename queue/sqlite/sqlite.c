/* The queue in a SQLite file: opening, closing, and its table of verbs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bide/policy.h"
#include "queue/broker.h"
#include "queue/missing.h"
#include "queue/sqlite/bell.h"
#include "queue/sqlite/clock.h"
#include "queue/sqlite/db.h"
#include "queue/sqlite/deliver.h"
#include "queue/sqlite/look.h"
#include "queue/sqlite/put.h"
#include "queue/sqlite/workers.h"

enum {
    VERSION = 2,
    APPLICATION = 0x62696465, /* "bide", in the file's header */
    BUSY_MS = 10 * 1000
};

static int pragma_number(struct sqlite_broker *s, const char *sql, int *ret)
{
    sqlite3_stmt *q = NULL;

    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
        return db_failed(s);
    int rc = sqlite3_step(q);
    if (rc == SQLITE_ROW)
        *ret = sqlite3_column_int(q, 0);
    sqlite3_finalize(q);
    return rc == SQLITE_ROW ? 0 : db_failed(s);
}

static int run_all(struct sqlite_broker *s, const char *sql)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0
                                                                   : db_failed(s);
}

/* What the workers of version 1 had is free; those of a worker that lives, it would
 * settle in the terms of that version. */
static int upgrade(struct sqlite_broker *s)
{
    uint64_t alive = 0;
    int status = workers_open_locks(s);

    if (status == 0)
        status = workers_alive(s, true, &alive);
    if (status == 0 && alive > 0)
        return broker_fail(&s->b, BROKER_DOWN,
                           "%s: workers of an earlier version of bide are at work on "
                           "it: stop them, and it will be brought up to date",
                           s->path);
    if (status == 0)
        status = run_all(s, sql_from_1);
    return status == 0 ? run_all(s, "PRAGMA user_version = 2") : status;
}

/* Of several that open a new file at once, one makes the tables. */
static int make_tables(struct sqlite_broker *s, bool create)
{
    int version = 0, tables = 0, application = 0;
    int status = pragma_number(s, "PRAGMA user_version", &version);

    if (status == 0)
        status = pragma_number(s, "SELECT count(*) FROM sqlite_master", &tables);
    if (status == 0)
        status = pragma_number(s, "PRAGMA application_id", &application);
    if (status != 0 || (version == VERSION && application == APPLICATION))
        return status;
    if (version == 1 && application == APPLICATION)
        return upgrade(s);
    if (version != 0 || tables != 0)
        return broker_fail(&s->b, BROKER_REFUSED,
                           "%s: is the file of another program or version",
                           s->path);
    if (!create)
        return broker_fail(&s->b, BROKER_REFUSED, "%s: has no queue", s->path);
    status = run_all(s, sql_schema);
    return status == 0 ? run_all(s, "PRAGMA user_version = 2;"
                                    "PRAGMA application_id = 0x62696465")
                       : status;
}

static int find_queue(struct sqlite_broker *s, bool create)
{
    sqlite3_stmt *q = create ? db_statement(s, SQL_ADD_QUEUE) : NULL;
    int status = 0;

    if (create) {
        if (!q)
            return db_failed(s);
        sqlite3_bind_text(q, 1, s->b.queue, -1, SQLITE_STATIC);
        if ((status = db_run(s, q)) != 0)
            return status;
    }
    if (!(q = db_statement(s, SQL_FIND_QUEUE)))
        return db_failed(s);
    sqlite3_bind_text(q, 1, s->b.queue, -1, SQLITE_STATIC);
    int rc = sqlite3_step(q);
    if (rc == SQLITE_ROW)
        s->queue = sqlite3_column_int64(q, 0);
    sqlite3_reset(q);
    if (rc == SQLITE_ROW)
        return 0;
    if (rc != SQLITE_DONE)
        return db_failed(s);
    return queue_missing(&s->b, look_queues, "there is no queue `%s` in %s",
                         s->b.queue, s->path);
}

/* Of several processes that change the mode of a new file at once, SQLite tells all
 * but one that it is busy, whatever the timeout: each waits for another. */
static int use_wal(struct sqlite_broker *s)
{
    int rc = SQLITE_BUSY;

    for (int ms = 0; ms < BUSY_MS && (rc & 0xff) == SQLITE_BUSY; ms += 5) {
        if (ms > 0)
            sqlite3_sleep(5);
        rc = sqlite3_exec(s->db,
                          "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                          "PRAGMA cache_size = -16000",
                          NULL, NULL, NULL);
    }
    return rc == SQLITE_OK ? 0 : db_failed(s);
}

static int set_up(struct sqlite_broker *s, const struct broker_conf *conf)
{
    int status;

    sqlite3_busy_timeout(s->db, BUSY_MS);
    sqlite3_extended_result_codes(s->db, 1);
    if ((status = use_wal(s)) != 0 || (status = look_open(s)) != 0 ||
        (status = db_enter(s)) != 0)
        return status;
    status = make_tables(s, conf->create);
    if (status == 0)
        status = clock_open(s);
    if (status == 0)
        status = find_queue(s, conf->create);
    return db_leave(s, status);
}

/* What keeps us from using a file that exists: an errno, or 0. */
static int find_file(const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    return faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/* With mode 0600 from its beginning: SQLite gives its other files the same. Never
 * opens a file that exists: closing it would drop the locks of another connection
 * in this process, and whoever leaves last elsewhere would take its WAL away. */
static int make_file(struct sqlite_broker *s, bool create)
{
    int fd = create ? open(s->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
                    : -1;
    int err = fd >= 0                     ? 0
              : create && errno != EEXIST ? errno
                                          : find_file(s->path);

    if (fd >= 0)
        close(fd);
    if (err)
        return broker_fail(&s->b, BROKER_REFUSED, "%s: %s", s->path,
                           err == ENOENT && !create
                               ? "no such file: nothing was ever queued there"
                               : strerror(err));
    return 0;
}

static void close_all(struct broker *b)
{
    struct sqlite_broker *s = (struct sqlite_broker *)b;

    if (s->db)
        workers_leave(s);
    for (int i = 0; i < N_SQL; i++)
        sqlite3_finalize(s->statements[i]);
    sqlite3_close_v2(s->db);
    bell_close(s);
    if (s->locks >= 0)
        close(s->locks);
    free(s->path);
    free(s);
}

static int open_file(struct broker **ret, const struct broker_conf *conf,
                     char *error)
{
    struct sqlite_broker *s = calloc(1, sizeof *s);
    const char *path = strchr(conf->url, ':') + 1;
    int status;

    if (!s || !(s->path = strdup(path))) {
        free(s);
        snprintf(error, BROKER_ERROR, "out of memory");
        return BROKER_NO_MEMORY;
    }
    s->b.traits = (struct broker_traits){ .max_body = 16 << 20,
                                          .max_delay_ns = BIDE_FOREVER,
                                          .has_priorities = true,
                                          .has_keys = true,
                                          .embedded = true };
    snprintf(s->b.queue, sizeof s->b.queue, "%s", conf->queue);
    s->locks = s->bell = s->ear = -1;
    s->max_deaths = conf->max_deaths;
    s->lease_ns = conf->lease_ns;
    s->ageing_ns = conf->ageing_ns;
    s->clock_ns = conf->clock_ns;
    s->clock_arg = conf->clock_arg;
    status = make_file(s, conf->create);
    if (status == 0 &&
        sqlite3_open_v2(s->path, &s->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
                            SQLITE_OPEN_PRIVATECACHE,
                        NULL) != SQLITE_OK)
        status = db_failed(s);
    if (status == 0)
        status = set_up(s, conf);
    if (status != 0) {
        snprintf(error, BROKER_ERROR, "%s", s->b.error);
        close_all(&s->b);
        return status;
    }
    bell_open(s, conf->consume);
    *ret = &s->b;
    return 0;
}

/* The schedule cannot lose anything here; what can be wrong is the disk. */
static int check(struct broker *b, const struct broker_plan *plan,
                 broker_finding *fn, void *arg)
{
    struct sqlite_broker *s = (struct sqlite_broker *)b;
    sqlite3_stmt *q = NULL;
    char found[BROKER_ERROR];

    (void)plan;
    if (sqlite3_prepare_v2(s->db, "PRAGMA quick_check(1)", -1, &q, NULL) !=
        SQLITE_OK)
        return db_failed(s);
    int rc = sqlite3_step(q);
    const char *text = rc == SQLITE_ROW
                           ? (const char *)sqlite3_column_text(q, 0)
                           : sqlite3_errmsg(s->db);
    bool fine = rc == SQLITE_ROW && text && strcmp(text, "ok") == 0;
    snprintf(found, sizeof found, "%s: %s", s->path,
             fine ? "the database is intact" : text ? text : "unreadable");
    sqlite3_finalize(q);
    fn(arg, fine ? BROKER_FINE : BROKER_LOSS, found,
       fine ? "" : "restore the file, or read it with `sqlite3 FILE .recover`");
    return 0;
}

const struct broker_kind broker_sqlite = {
    .name = "sqlite",
    .open = open_file,
    .close = close_all,
    .put = rows_put,
    .take = rows_take,
    .beat = workers_beat,
    .settle = rows_settle,
    .rescue = workers_rescue,
    .begin = db_begin,
    .commit = db_commit,
    .wait_fd = bell_fd,
    .woken = bell_heard,
    .counts = look_counts,
    .each = look_each,
    .redrive = look_redrive,
    .check = check,
    .queues = look_queues,
};
