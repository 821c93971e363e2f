/* Which queue, at which broker; and what a mistyped name might have meant. */
#include "cmd/worker/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/output.h"
#include "config/worker/conf.h"
#include "queue/missing.h"

int place_flag(struct queue_place *p, const char *name, const char *argument,
               const char **ret_expected)
{
    if (strcmp(name, "broker") == 0) {
        p->broker = argument;
        return 1;
    }
    if (strcmp(name, "config") == 0) {
        p->file = argument;
        return 1;
    }
    if (strcmp(name, "queue") != 0)
        return 0;
    if (!queue_name_ok(argument)) {
        *ret_expected = "letters, digits, `-`, `_` and `.`, at most 80";
        return -1;
    }
    p->queue = argument;
    p->named = true;
    return 1;
}

/* ===== the file ===== */

const struct bide__worker_settings *place_settings(const struct queue_place *p)
{
    return bide__config_worker(p->config);
}

static int read_file(struct queue_place *p, const char *command)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    int rc = notes ? bide_config_read(&p->config, p->file, notes) : BIDE_ENOMEM;

    if (rc == BIDE_ENOMEM)
        complain(command, "out of memory");
    else if (rc < 0)
        bide_diagnostics_print(notes, stderr, use_colours(stderr));
    bide_diagnostics_free(notes);
    return rc < 0 ? EXIT_USAGE : -1;
}

int place_settle(struct queue_place *p, const char *command)
{
    int rc = p->file && !p->config ? read_file(p, command) : -1;

    if (rc >= 0 || !p->config)
        return rc;
    const struct bide__worker_settings *s = place_settings(p);
    if (!s) {
        complain(command, "%s has no section `worker`", p->file);
        fprintf(stderr, "  add `worker: { queue: NAME }`\n");
        return EXIT_USAGE;
    }
    if (!p->named)
        p->queue = s->queue;
    if (!p->broker)
        p->broker = s->broker;
    p->create = p->create || s->create;
    p->lease_ns = s->lease_ns;
    return -1;
}

void place_done(struct queue_place *p)
{
    bide_config_free(p->config);
    p->config = NULL;
}

/* ===== the queue ===== */

static struct broker *open_with(const struct queue_place *p, bool create,
                                bool consume, int *ret_status, char *error)
{
    struct broker_conf conf = BROKER_CONF_INIT;
    struct broker *b = NULL;

    conf.url = p->broker;
    conf.queue = p->queue;
    conf.create = create;
    conf.consume = consume;
    if (p->lease_ns)
        conf.lease_ns = p->lease_ns;
    *ret_status = broker_open(&b, &conf, error);
    return *ret_status == 0 ? b : NULL;
}

static struct broker *refuse(const char *command, const char *why)
{
    complain(command, "%s", why);
    return NULL;
}

/* The broker with its queue; `error` says why not. */
static struct broker *open_new(struct queue_place *p, const char *command,
                               enum place_use use)
{
    char error[BROKER_ERROR];
    struct bide__out close = { 0 };
    int status;
    struct broker *b = open_with(p, true, use == PLACE_CONSUME, &status, error);

    if (!b)
        return refuse(command, error);
    snprintf(p->made, sizeof p->made, "%s", p->queue);
    if (b->kind->queues && queue_close(b, b->kind->queues, &close))
        fprintf(stderr, "bide %s: the queue `%s` is new; %.*s\n", command,
                p->queue, (int)close.len, close.data);
    bide__out_done(&close);
    return b;
}

static struct broker *open_settled(struct queue_place *p, const char *command,
                                   enum place_use use)
{
    char error[BROKER_ERROR];
    int status;
    struct broker *b =
        open_with(p, false, use == PLACE_CONSUME, &status, error);

    if (b)
        return b;
    if (use == PLACE_LOOK || status != BROKER_REFUSED)
        return refuse(command, error);
    if (use == PLACE_CONSUME && !p->create && strstr(error, "did you mean"))
        return refuse(command, error);
    return open_new(p, command, use);
}

struct broker *place_open(struct queue_place *p, const char *command,
                          enum place_use use)
{
    bool was_read = p->config != NULL;
    struct broker *b = place_settle(p, command) < 0
                           ? open_settled(p, command, use)
                           : NULL;

    if (!b && !was_read)
        place_done(p);
    return b;
}
