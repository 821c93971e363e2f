/* The SQLite broker: the suite for all brokers, on a clock that the test moves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance.h"
#include "queue/sqlite/db.h"

static int64_t now_ns = INT64_C(1790000000) * 1000000000;
static char folder[] = "/tmp/bide-queue-XXXXXX";

static int64_t read_now(void *arg)
{
    (void)arg;
    return now_ns;
}

static void set_clock(struct broker_conf *conf)
{
    conf->clock_ns = read_now;
}

static void advance(int64_t ms)
{
    now_ns += ms * 1000000;
}

static const char *url(const char *queue)
{
    static char text[128];

    (void)queue; /* all in one file, as users have them */
    snprintf(text, sizeof text, "sqlite:%s/queue.db", folder);
    return text;
}

/* What the kernel does for a process that is gone. */
static void kill_worker(struct broker *b)
{
    struct sqlite_broker *s = (struct sqlite_broker *)b;

    s->worker = 0;
    broker_close(b);
}

int main(void)
{
    static const struct conformance_broker sqlite = {
        .name = "sqlite", .url = url, .set_clock = set_clock,
        .advance = advance, .kill_worker = kill_worker, .lease_ms = 30000,
    };
    static const char *const files[] = { "", "-wal", "-shm", "-bell",
                                         "-workers" };
    char path[128];

    if (!mkdtemp(folder))
        return 1;
    int failed = conformance_run(&sqlite);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/queue.db%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
    return failed;
}
