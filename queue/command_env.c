/* The environment of a command that handles a message. */
#include "queue/command_env.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bide/claim.h"
#include "bide/run.h"
#include "queue/key.h"

static void add(struct bide__out *out, const char *name, const char *value)
{
    bide__out_text(out, name);
    bide__out_char(out, '=');
    bide__out_bytes(out, value, strlen(value) + 1);
}

static void add_number(struct bide__out *out, const char *name, uint32_t n)
{
    char text[16];

    snprintf(text, sizeof text, "%u", n);
    add(out, name, text);
}

/* BIDE_ATTR_CONTENT_TYPE for content-type. */
static void add_attribute(struct bide__out *out,
                          const struct queue_attribute *a)
{
    bide__out_text(out, "BIDE_ATTR_");
    for (const char *c = a->name; *c; c++)
        bide__out_char(out, isalnum((unsigned char)*c)
                                ? (char)toupper((unsigned char)*c)
                                : '_');
    bide__out_char(out, '=');
    bide__out_bytes(out, a->value, strlen(a->value) + 1);
}

/* The layer below does not retry: we do (bide/claim.h). */
static void add_claim(struct bide__out *out, const struct queue_job *job,
                      const char *theirs)
{
    bide_claim claim =
        bide_call_claim(&job->call, &job->op, job->attempt, job->begin_ns);
    bide_header h = { "baggage", 7, theirs, theirs ? strlen(theirs) : 0 };
    size_t room = h.value_len + BIDE_BAGGAGE_OWN + 2;

    bide__out_text(out, "BAGGAGE=");
    char *to = bide__out_room(out, room);
    if (!to)
        return;
    size_t len = bide_baggage_write(to, room - 1, &h, theirs != NULL, &claim,
                                    bide_wall_ms());
    to[len] = 0;
    out->len += len + 1;
}

static size_t write_texts(struct bide__out *out, const struct queue_job *job)
{
    const struct queue_message *m = job->message;
    char key[QUEUE_IDEMPOTENCY_KEY];
    const char *theirs = NULL;
    size_t n = 8 + m->n_attributes;

    for (char **e = environ; *e; e++) {
        if (strncmp(*e, "BAGGAGE=", 8) == 0)
            theirs = *e + 8;
        else if (strncmp(*e, "BIDE_", 5) != 0 &&
                 (!job->traceparent[0] ||
                  strncmp(*e, "TRACEPARENT=", 12) != 0) &&
                 ++n)
            bide__out_bytes(out, *e, strlen(*e) + 1);
    }
    queue_idempotency_key(key, job->queue, m);
    add(out, "BIDE_QUEUE", job->queue);
    add(out, "BIDE_MESSAGE_ID", m->id);
    add(out, "BIDE_MESSAGE_KEY", m->key);
    add(out, "BIDE_IDEMPOTENCY_KEY", key);
    add_number(out, "BIDE_ATTEMPT", job->attempt);
    add_number(out, "BIDE_ATTEMPTS", job->attempts);
    add_number(out, "BIDE_DELIVERY", m->deliveries);
    add_claim(out, job, theirs);
    if (job->traceparent[0] && ++n)
        add(out, "TRACEPARENT", job->traceparent);
    for (size_t i = 0; i < m->n_attributes; i++)
        add_attribute(out, &m->attributes[i]);
    return n;
}

/* First the texts, then, aligned, the pointers to them. */
char **queue_command_env(struct bide__out *out, const struct queue_job *job)
{
    size_t n = write_texts(out, job), end = out->len;

    while (out->len % sizeof(char *) != 0 && !out->failed)
        bide__out_char(out, 0);
    char **env = (char **)(void *)bide__out_room(out, (n + 1) * sizeof *env);
    if (!env || out->failed)
        return NULL;
    char *at = out->data;
    for (size_t i = 0; i < n && at < out->data + end; i++) {
        env[i] = at;
        at += strlen(at) + 1;
    }
    env[n] = NULL;
    return env;
}
