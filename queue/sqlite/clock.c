/* The queue's clock: an offset in the database over the machine's own. */
#include "queue/sqlite/clock.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "queue/sqlite/db.h"

enum { MS = 1000 * 1000 };

static int64_t read_clock(clockid_t which)
{
    struct timespec t;

    clock_gettime(which, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clock_now_ms(const struct sqlite_broker *s)
{
    if (s->clock_ns)
        return s->clock_ns(s->clock_arg) / MS;
    return (read_clock(CLOCK_BOOTTIME) + s->offset_ns) / MS;
}

int64_t clock_steady_ns(const struct sqlite_broker *s)
{
    return s->clock_ns ? s->clock_ns(s->clock_arg)
                       : read_clock(CLOCK_MONOTONIC);
}

int64_t clock_offset(int64_t wall_ns, int64_t boot_ns, int64_t last_ms)
{
    if (wall_ns / MS < last_ms)
        wall_ns = last_ms * MS;
    return wall_ns - boot_ns;
}

static void read_boot(char to[40])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, to, 36);

    if (fd >= 0)
        close(fd);
    to[n < 0 ? 0 : n] = 0;
}

int clock_open(struct sqlite_broker *s)
{
    sqlite3_stmt *q = db_statement(s, SQL_GET_CLOCK);
    char boot[40];
    int64_t last_ms = 0;
    bool same = false;
    int rc;

    if (!q)
        return db_failed(s);
    read_boot(boot);
    if ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(q, 0);
        same = text && strcmp(text, boot) == 0;
        s->offset_ns = sqlite3_column_int64(q, 1);
        last_ms = sqlite3_column_int64(q, 2);
    }
    sqlite3_reset(q);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return db_failed(s);
    if (same)
        return 0;
    s->offset_ns = clock_offset(read_clock(CLOCK_REALTIME),
                                read_clock(CLOCK_BOOTTIME), last_ms);
    if (!(q = db_statement(s, SQL_SET_CLOCK)))
        return db_failed(s);
    sqlite3_bind_text(q, 1, boot, -1, SQLITE_STATIC);
    sqlite3_bind_int64(q, 2, s->offset_ns);
    sqlite3_bind_int64(q, 3, clock_now_ms(s));
    return db_run(s, q);
}

int clock_note(struct sqlite_broker *s)
{
    sqlite3_stmt *q = db_statement(s, SQL_CLOCK_AT);

    if (!q)
        return db_failed(s);
    sqlite3_bind_int64(q, 1, s->now_ms);
    return db_run(s, q);
}
