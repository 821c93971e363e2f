/* Our own row and lock, and our beat. */
#include "queue/sqlite/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "queue/sqlite/clock.h"
#include "queue/sqlite/db.h"
#include "queue/sqlite/held.h"
#include "queue/sqlite/lock.h"

int workers_open_locks(struct sqlite_broker *s)
{
    if (s->locks >= 0)
        return 0;
    size_t size = strlen(s->path) + sizeof "-workers";
    char *path = malloc(size);

    if (!path)
        return broker_fail(&s->b, BROKER_NO_MEMORY, "out of memory");
    snprintf(path, size, "%s-workers", s->path);
    s->locks = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    int status = s->locks >= 0
                     ? 0
                     : broker_fail(&s->b, BROKER_REFUSED, "%s: %s", path,
                                   strerror(errno));
    free(path);
    return status;
}

int workers_register(struct sqlite_broker *s)
{
    int status = workers_open_locks(s);
    sqlite3_stmt *q;

    if (status != 0 || s->worker)
        return status;
    if (!(q = db_statement(s, SQL_ADD_WORKER)))
        return db_failed(s);
    sqlite3_bind_int64(q, 1, s->queue);
    sqlite3_bind_int64(q, 2, getpid());
    if ((status = db_run(s, q)) != 0)
        return status;
    /* If the transaction fails, the row was never there, and its lock hurts
     * nobody. */
    int64_t n = sqlite3_last_insert_rowid(s->db);
    if (!lock_byte(s->locks, n))
        return broker_fail(&s->b, BROKER_REFUSED, "%s-workers: cannot lock: %s",
                           s->path, strerror(errno));
    s->worker = n;
    s->new_worker = true;
    return 0;
}

void workers_forget_us(struct sqlite_broker *s)
{
    if (s->worker)
        unlock_byte(s->locks, s->worker);
    s->worker = 0;
}

uint64_t workers_token(const struct sqlite_broker *s, uint32_t delivery)
{
    return (uint64_t)s->worker << 32 | delivery;
}

bool workers_is_ours(const struct sqlite_broker *s, uint64_t token)
{
    return s->worker && token >> 32 == (uint64_t)s->worker;
}

int workers_beat(struct broker *b, struct queue_message **running, size_t n)
{
    struct sqlite_broker *s = (struct sqlite_broker *)b;
    struct seqs own = { 0 };
    int status = db_enter(s);
    sqlite3_stmt *q;

    if (status != 0)
        return status;
    if (!(q = db_statement(s, SQL_BEAT)))
        return db_leave(s, db_failed(s));
    sqlite3_bind_int64(q, 1, s->worker);
    status = db_run(s, q);
    bool known = status == 0 && sqlite3_changes(s->db) > 0;
    if (status == 0)
        status = held_of(s, s->worker, &own);
    for (size_t i = 0; i < n && status == 0; i++)
        running[i]->lost = !workers_is_ours(s, running[i]->token) ||
                           !seqs_has(&own, (int64_t)running[i]->number);
    seqs_done(&own);
    if (status == 0)
        status = clock_note(s);
    if (status == 0 && !known) { /* declared dead: begin again */
        workers_forget_us(s);
        status = workers_register(s);
    }
    return db_leave(s, status);
}
