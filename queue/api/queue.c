/* A queue of a program: opening it, and putting messages into it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sized.h"
#include "queue/api/api.h"

_Static_assert((int)BIDE_QUEUE_WHY == (int)BROKER_ERROR &&
                   (int)BIDE_QUEUE_ID_MAX == (int)QUEUE_ID_MAX &&
                   (int)BIDE_QUEUE_ATTRIBUTES_MAX == (int)QUEUE_ATTRIBUTES_MAX,
               "the header says what the queue can do");

int queue_fail(char *why, int rc, const char *format, ...)
{
    va_list args;

    if (!why)
        return rc;
    va_start(args, format);
    vsnprintf(why, BIDE_QUEUE_WHY, format, args);
    va_end(args);
    return rc;
}

int queue_status(char *why, int status, const char *error)
{
    int rc = status == BROKER_OK          ? 0
             : status == BROKER_REFUSED   ? BIDE_ENAME
             : status == BROKER_NO_MEMORY ? BIDE_ENOMEM
                                          : BIDE_ESTATE;

    return rc < 0 ? queue_fail(why, rc, "%s", error) : 0;
}

/* ===== opening ===== */

static int open_broker(struct bide_queue *q, bool create, char *why)
{
    struct broker_conf conf = BROKER_CONF_INIT;
    char error[BROKER_ERROR];

    conf.url = q->url;
    conf.queue = q->name;
    conf.create = create;
    return queue_status(why, broker_open(&q->broker, &conf, error), error);
}

int bide_queue_open_sized(bide_queue **ret, const bide_queue_conf *conf,
                          size_t size, char why[BIDE_QUEUE_WHY])
{
    static const bide_queue_conf defaults = BIDE_QUEUE_CONF_INIT;
    bide_queue_conf room;

    if (!ret)
        return queue_fail(why, BIDE_EINVAL, "there is no place for the queue");
    if (!conf)
        conf = &defaults;
    else if (!(conf = bide__sized_in(conf, size, &room, sizeof room)))
        return queue_fail(why, BIDE_ESIZE, "%s", bide_strerror(BIDE_ESIZE));
    if (!conf->name || !queue_name_ok(conf->name))
        return queue_fail(why, BIDE_EINVAL,
                          "`%.80s` is no name for a queue: letters, digits, "
                          "`-`, `_` and `.`, at most %d",
                          conf->name ? conf->name : "", QUEUE_NAME_MAX);
    struct bide_queue *q = calloc(1, sizeof *q);
    if (!q || (conf->broker && !(q->url = strdup(conf->broker)))) {
        free(q);
        return queue_fail(why, BIDE_ENOMEM, "out of memory");
    }
    memcpy(q->name, conf->name, strlen(conf->name));
    int rc = open_broker(q, conf->create, why);
    if (rc < 0) {
        free(q->url);
        free(q);
        return rc;
    }
    pthread_mutex_init(&q->lock, NULL);
    *ret = q;
    return 0;
}

void bide_queue_close(bide_queue *q)
{
    if (!q)
        return;
    broker_close(q->broker);
    pthread_mutex_destroy(&q->lock);
    free(q->url);
    free(q);
}

/* ===== putting ===== */

static bool attribute_ok(const bide_queue_attribute *a)
{
    return a->name && a->value && queue_attribute_ok(a->name, a->value);
}

/* NULL, or what is wrong with it. */
static const char *wrong_item(const bide_queue_item *i)
{
    if (i->len > 0 && !i->body)
        return "there is no body";
    if (i->id && !queue_id_ok(i->id))
        return "an id has 1 to 200 bytes, none of them a control character";
    if (i->key && !queue_id_ok(i->key))
        return "a key has 1 to 200 bytes, none of them a control character";
    if (i->delay_ns < 0)
        return "a delay is 0 or more";
    if (i->priority < -QUEUE_PRIORITY_MAX || i->priority > QUEUE_PRIORITY_MAX)
        return "a priority is a number from -9 to 9";
    if (i->n_attributes > QUEUE_ATTRIBUTES_MAX ||
        (i->n_attributes > 0 && !i->attributes))
        return "a message has at most 32 attributes";
    for (uint32_t k = 0; k < i->n_attributes; k++)
        if (!attribute_ok(&i->attributes[k]))
            return "an attribute has a name of letters, digits, `-`, `_` and "
                   "`.`, and 4096 bytes at most";
    return NULL;
}

static int check_items(const struct broker *b, const bide_queue_item *items,
                       size_t n, char *why)
{
    for (size_t i = 0; i < n; i++) {
        const char *wrong = wrong_item(&items[i]);

        if (wrong)
            return queue_fail(why, BIDE_EINVAL, "message %zu: %s", i + 1,
                              wrong);
        if (b->traits.max_body && items[i].len > b->traits.max_body)
            return queue_fail(why, BIDE_EINVAL,
                              "message %zu has %zu bytes, more than the %zu "
                              "that the broker takes",
                              i + 1, items[i].len, b->traits.max_body);
    }
    return 0;
}

/* The messages as the broker takes them, in one block; NULL: no memory. */
static struct broker_put *puts_of(const bide_queue_item *items, size_t n)
{
    size_t n_attributes = 0;

    for (size_t i = 0; i < n; i++)
        n_attributes += items[i].n_attributes;
    struct broker_put *puts =
        calloc(1, n * sizeof *puts +
                      n_attributes * sizeof(struct queue_attribute));
    if (!puts)
        return NULL;
    struct queue_attribute *at = (struct queue_attribute *)(void *)(puts + n);
    for (size_t i = 0; i < n; i++) {
        const bide_queue_item *item = &items[i];
        puts[i] = (struct broker_put){ .id = item->id,
                                       .key = item->key,
                                       .priority = item->priority,
                                       .delay_ns = item->delay_ns,
                                       .body = item->body,
                                       .len = item->len,
                                       .attributes = at,
                                       .n_attributes = item->n_attributes };
        for (uint32_t k = 0; k < item->n_attributes; k++)
            *at++ = (struct queue_attribute){ item->attributes[k].name,
                                              item->attributes[k].value };
    }
    return puts;
}

int bide_queue_put(bide_queue *q, bide_queue_item *items, size_t n,
                   char why[BIDE_QUEUE_WHY])
{
    if (!q || (n > 0 && !items))
        return queue_fail(why, BIDE_EINVAL, "there is no %s",
                          q ? "message" : "queue");
    int rc = check_items(q->broker, items, n, why);
    if (rc < 0 || n == 0)
        return rc;
    struct broker_put *puts = puts_of(items, n);
    if (!puts)
        return queue_fail(why, BIDE_ENOMEM, "out of memory");
    pthread_mutex_lock(&q->lock);
    rc = queue_status(why, q->broker->kind->put(q->broker, puts, n),
                      q->broker->error);
    pthread_mutex_unlock(&q->lock);
    for (size_t i = 0; i < n && rc == 0; i++) {
        items[i].duplicate = puts[i].duplicate;
        memcpy(items[i].queued_id, puts[i].made_id, sizeof puts[i].made_id);
    }
    free(puts);
    return rc;
}
