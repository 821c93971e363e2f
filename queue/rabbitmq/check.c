/* What loses messages: the arguments of queues. AMQP does not show them, but a
 * declaration that differs is refused with the first argument that does, and its value.
 * So a queue is declared with ever more of what was found, until it is accepted. Limits
 * that come from a policy are not found this way: manage.h. */
#include "queue/rabbitmq/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/rabbitmq/manage.h"
#include "queue/rabbitmq/session.h"

enum { ARGUMENTS = 16, TEXT = 80 };

/* What is known of a queue so far. */
struct found {
    bool durable, auto_delete;
    struct {
        char name[TEXT], value[TEXT];
        bool is_text;
    } arguments[ARGUMENTS];
    int n;
};

static const struct check_meaning meanings[] = {
    { "x-max-length", BROKER_LOSS, "the server drops messages beyond that number" },
    { "x-max-length-bytes", BROKER_LOSS, "the server drops messages beyond that size" },
    { "x-message-ttl", BROKER_LOSS, "the server drops messages after so many ms" },
    { "x-expires", BROKER_LOSS,
      "the server deletes the queue after so many ms without a consumer" },
    { "x-delivery-limit", BROKER_LOSS,
      "the server drops messages that were delivered so often, also where no attempt "
      "counted" },
    { "x-single-active-consumer", BROKER_WASTE, "only one worker is told of messages" },
    { "x-max-priority", BROKER_WASTE,
      "the server sorts by AMQP's priority; bide's has queues of its own" },
};

const struct check_meaning *check_meaning(const char *name)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (strcmp(meanings[i].name + 2, name) == 0)
            return &meanings[i];
    return NULL;
}

/* ===== declaring to compare ===== */

static int declare(struct rmq *q, const char *queue, const struct found *f)
{
    amqp_table_entry_t entries[ARGUMENTS];
    amqp_queue_declare_t m = { .queue = wire_bytes(queue),
                               .durable = f->durable,
                               .auto_delete = f->auto_delete };

    for (int i = 0; i < f->n; i++) {
        amqp_field_value_t *v = &entries[i].value;
        entries[i].key = wire_bytes(f->arguments[i].name);
        if (strcmp(f->arguments[i].value, "true") == 0) {
            v->kind = AMQP_FIELD_KIND_BOOLEAN;
            v->value.boolean = 1;
        } else if (f->arguments[i].is_text) {
            v->kind = AMQP_FIELD_KIND_UTF8;
            v->value.bytes = wire_bytes(f->arguments[i].value);
        } else {
            v->kind = AMQP_FIELD_KIND_I64;
            v->value.i64 = strtoll(f->arguments[i].value, NULL, 10);
        }
    }
    m.arguments = (amqp_table_t){ f->n, entries };
    wire_begin(&q->wire);
    int status = wire_send(&q->wire, WIRE_LOOK, AMQP_QUEUE_DECLARE_METHOD, &m, true);
    return status == 0 ? wire_wait(&q->wire) : status;
}

/* The text between two marks, the first of which is sought; false: there is none. */
static bool between(char to[TEXT], const char *text, const char *before, char after)
{
    const char *from = strstr(text, before);
    const char *end = from ? strchr(from + strlen(before), after) : NULL;

    if (!end || (size_t)(end - from) - strlen(before) >= TEXT)
        return false;
    from += strlen(before);
    snprintf(to, TEXT, "%.*s", (int)(end - from), from);
    return true;
}

/* "inequivalent arg 'x-max-length' for queue 'q' in vhost '/': received none but current is
 * the value '10' of type 'signedint'". False: not understood, or it says nothing new. */
static bool learn(struct found *f, const char *text)
{
    char name[TEXT], value[TEXT];

    if (!between(name, text, "inequivalent arg '", '\''))
        return false;
    const char *current = strstr(text, "but current is ");
    if (!current || !between(value, current, "'", '\''))
        return false;
    if (strcmp(name, "durable") == 0 || strcmp(name, "auto_delete") == 0) {
        bool *flag = *name == 'd' ? &f->durable : &f->auto_delete, before = *flag;
        *flag = strcmp(value, "true") == 0;
        return *flag != before;
    }
    for (int i = 0; i < f->n; i++)
        if (strcmp(f->arguments[i].name, name) == 0)
            return false;
    if (f->n == ARGUMENTS)
        return false;
    memcpy(f->arguments[f->n].name, name, TEXT);
    memcpy(f->arguments[f->n].value, value, TEXT);
    f->arguments[f->n++].is_text = strstr(current, "'longstr'") != NULL;
    return true;
}

/* False in *known: something differs that the server does not explain. */
static int find_out(struct rmq *q, const char *queue, struct found *f, bool *known)
{
    *f = (struct found){ .durable = true };
    *known = true;
    for (;;) {
        int status = declare(q, queue, f);
        if (status != 0 || !q->wire.refused)
            return status;
        *known = q->wire.refused == WIRE_DIFFERS && learn(f, q->wire.why);
        status = wire_reopen(&q->wire, WIRE_LOOK);
        if (status != 0 || !*known)
            return status;
    }
}

/* ===== what it means ===== */

static bool drops(const struct found *f, const char *name)
{
    if (strncmp(name, "x-max-length", 12) != 0)
        return true;
    for (int i = 0; i < f->n; i++)
        if (strcmp(f->arguments[i].name, "x-overflow") == 0)
            return strcmp(f->arguments[i].value, "reject-publish") != 0;
    return true;
}

static void judge(const char *queue, const struct found *f, broker_finding *fn, void *arg)
{
    char text[400], change[300];

    snprintf(change, sizeof change,
             "make the queue `%.80s` again, durable, without that argument (its "
             "arguments cannot be changed)",
             queue);
    if (!f->durable || f->auto_delete) {
        snprintf(text, sizeof text, "the queue `%.80s` is %s: it is gone, with its "
                                    "messages, %s",
                 queue, f->durable ? "auto-delete" : "not durable",
                 f->durable ? "when its last consumer goes" : "when the server restarts");
        fn(arg, BROKER_LOSS, text, change);
    }
    for (int i = 0; i < f->n; i++)
        for (size_t j = 0; j < sizeof meanings / sizeof meanings[0]; j++) {
            if (strcmp(f->arguments[i].name, meanings[j].name) != 0 ||
                !drops(f, meanings[j].name) ||
                (meanings[j].severity == BROKER_LOSS &&
                 strtoll(f->arguments[i].value, NULL, 10) >= 1000000000 &&
                 strcmp(meanings[j].name, "x-delivery-limit") == 0))
                continue;
            snprintf(text, sizeof text, "the queue `%.80s` has %s %s: %s", queue,
                     f->arguments[i].name, f->arguments[i].value, meanings[j].means);
            fn(arg, meanings[j].severity, text, change);
        }
}

/* consumer_timeout is no matter: what has been in hand for long is renewed (slot.h). */
int rmq_check(struct broker *b, const struct broker_plan *plan, broker_finding *fn,
              void *arg)
{
    struct rmq *q = (struct rmq *)b;
    char dead[RMQ_NAME];
    const char *const queues[] = { b->queue, place_dead(q, dead) };
    int status = rmq_ready(q);

    (void)plan;
    for (int i = 0; i < 2 && status == 0; i++) {
        struct found f;
        bool known;
        status = rmq_tell(q, find_out(q, queues[i], &f, &known));
        for (int j = 0; j < f.n && i == 0 && status == 0; j++)
            q->no_ticks |= strcmp(f.arguments[j].name, "x-dead-letter-exchange") == 0;
        if (status == 0)
            judge(queues[i], &f, fn, arg);
        if (status == 0 && !known)
            fn(arg, BROKER_WASTE,
               "the server does not say how a queue was declared",
               "look at its arguments: no TTL, no limit of length, durable");
    }
    if (status == 0 && *q->url.management)
        status = manage_check(q, fn, arg);
    return status;
}
