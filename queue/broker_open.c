/* Which broker a URL means, and where the queue is that nobody named. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/module.h"
#include "queue/broker.h"
#include "queue/state_dir.h"

/* In the order of the documentation. */
static const struct broker_kind *const kinds[] = { &broker_sqlite,
                                                   &broker_redis };

enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

/* Those that bring a client library along. */
static const struct {
    const char *schemes[3];
    const char *file, *symbol;
} modules[] = {
    { { "postgresql", "postgres" },
      "bide-queue-postgresql.so",
      "broker_postgresql" },
    { { "amqp", "amqps" }, "bide-queue-rabbitmq.so", "broker_rabbitmq" },
    { { "sqs", "sqs+http", "sqs+https" }, "bide-queue-sqs.so", "broker_sqs" },
    { { "kafka" }, "bide-queue-kafka.so", "broker_kafka" },
};

enum { N_MODULES = sizeof modules / sizeof modules[0] };

static bool is_scheme(const char *url, size_t len, const char *name)
{
    return name && strlen(name) == len && strncmp(url, name, len) == 0;
}

static const struct broker_kind *find(const char *url)
{
    const char *colon = strchr(url, ':');
    size_t len = colon ? (size_t)(colon - url) : 0;

    for (size_t i = 0; i < N_KINDS; i++) {
        if (is_scheme(url, len, kinds[i]->name))
            return kinds[i];
        for (int j = 0; j < 4 && kinds[i]->schemes[j]; j++)
            if (is_scheme(url, len, kinds[i]->schemes[j]))
                return kinds[i];
    }
    return NULL;
}

/* NULL: it has none (and *error is empty), or it cannot be loaded. */
static const struct broker_kind *load(const char *url, char *error)
{
    size_t len = strcspn(url, ":");

    *error = '\0';
    for (size_t i = 0; i < N_MODULES; i++)
        for (int j = 0; j < 3 && modules[i].schemes[j]; j++)
            if (is_scheme(url, len, modules[i].schemes[j]))
                return bide__module(modules[i].file, modules[i].symbol, error,
                                    BROKER_ERROR);
    return NULL;
}

static int refuse_scheme(const char *url, char *error)
{
    int n = snprintf(error, BROKER_ERROR, "`%.*s` is not a broker: expected",
                     (int)strcspn(url, ":"), url);

    for (size_t i = 0; i < N_KINDS && n > 0 && n < BROKER_ERROR; i++)
        n += snprintf(error + n, (size_t)(BROKER_ERROR - n), "%s %s:...",
                      i ? "," : "", kinds[i]->name);
    for (size_t i = 0; i < N_MODULES && n > 0 && n < BROKER_ERROR; i++)
        n += snprintf(error + n, (size_t)(BROKER_ERROR - n), ", %s:...",
                      modules[i].schemes[0]);
    if (!strchr(url, ':') && n > 0 && n < BROKER_ERROR) /* a path */
        snprintf(error + n, (size_t)(BROKER_ERROR - n), "; a file is sqlite:%s",
                 url);
    return BROKER_REFUSED;
}

int broker_open(struct broker **ret, const struct broker_conf *conf,
                char error[BROKER_ERROR])
{
    struct broker_conf c = *conf;
    char ours[BROKER_ERROR];

    if (!queue_name_ok(c.queue)) {
        snprintf(error, BROKER_ERROR,
                 "`%.80s` is no name for a queue: letters, digits, `-`, `_` and "
                 "`.`, at most %d",
                 c.queue, QUEUE_NAME_MAX);
        return BROKER_REFUSED;
    }
    if (!c.url) {
        if (state_dir(ours, sizeof ours, c.create, error) != 0)
            return BROKER_REFUSED;
        size_t len = strlen(ours);
        snprintf(ours + len, sizeof ours - len, "/queue.db");
        c.url = ours;
    }
    const struct broker_kind *kind = find(c.url);
    if (!kind && !(kind = load(c.url, error)))
        return *error ? BROKER_REFUSED : refuse_scheme(c.url, error);
    int status = kind->open(ret, &c, error);
    if (status == 0)
        (*ret)->kind = kind;
    return status;
}

static int refuse(struct broker *b, const char *what, const char *instead)
{
    return broker_fail(b, BROKER_REFUSED, "%s; leave it out, or use %s", what,
                       instead ? instead : "another broker");
}

int broker_check_put(struct broker *b, const struct broker_put *p)
{
    if (p->id && b->traits.forgets_ids)
        return refuse(b,
                      "id: this broker does not know which ids are there "
                      "already",
                      NULL);
    if (p->key && !b->traits.has_keys)
        return refuse(b, "key: this broker keeps no order by key",
                      b->traits.for_keys);
    if (p->priority && !b->traits.has_priorities)
        return refuse(b, "priority: this broker has none",
                      b->traits.for_priorities);
    if (p->delay_ns > b->traits.max_delay_ns)
        return broker_fail(b, BROKER_REFUSED,
                           "delay: in this queue a message can wait for %lld s at "
                           "most",
                           (long long)(b->traits.max_delay_ns / 1000000000));
    return 0;
}

void broker_close(struct broker *b)
{
    if (b)
        b->kind->close(b);
}
