/* queue/message.h: a message, as every broker keeps it and every handler gets it.
 *
 *     struct queue_message *m = queue_message_new(&(struct queue_text){
 *         .id = "7f3a", .body = "hello", .body_len = 5 });
 *     if (!m)
 *         ...                                       // no memory
 *     printf("%s: %zu bytes\n", m->id, m->body_len);
 *     queue_message_free(m);
 *
 * One block of memory holds all of it: whoever has the pointer owns the
 * message, and a broker keeps none that it handed out.
 *
 * Three counts, and what each is for:
 *
 *   attempt     attempts that counted: what the policy's limit is about
 *   deliveries  how often a worker took it, whatever came of that
 *   deaths      workers that died while they ran it, and nothing beside it
 *
 * Invariant: id and key are not longer than their limits and hold no byte below
 * space; attribute names are ASCII letters, digits, '_', '-' and '.'. What comes
 * from a foreign producer is brought into that form by its broker. */
#ifndef BIDE_QUEUE_MESSAGE_H
#define BIDE_QUEUE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QUEUE_NAME_MAX = 80,        /* of a queue: letters, digits, - _ . */
    QUEUE_ID_MAX = 200,
    QUEUE_KEY_MAX = 200,
    QUEUE_PRIORITY_MAX = 9,     /* from -9 to 9, 0 is normal, higher first */
    QUEUE_ATTRIBUTES_MAX = 32,
    QUEUE_ATTRIBUTE_MAX = 4096, /* name and value */
    QUEUE_HANDLE_MAX = 2048,    /* a broker's own name of a delivery */
    QUEUE_ERROR_MAX = 240,      /* text of one failed attempt */
    QUEUE_ERRORS_MAX = 8192,    /* all of them: the newest stay */
    QUEUE_TAIL_MAX = 4096       /* of the handler's last output */
};

/* A name and its value, both text. */
struct queue_attribute {
    const char *name, *value;
};

/* What a message is made of, for queue_message_new(), which copies it.
 * Threads: owned. */
struct queue_text {
    const char *id;
    const char *key;    /* "" or NULL: none */
    const char *handle; /* the broker's own; NULL: none */
    const char *errors; /* of earlier attempts, a line each; NULL: none */
    const void *body;
    size_t body_len;
    const struct queue_attribute *attributes;
    size_t n_attributes;
};

/* Threads: owned. */
struct queue_message {
    const char *id;
    const char *key;            /* "": no order to keep */
    const char *handle;         /* the broker's own name of this delivery, "" */
    const char *errors;         /* "": none */
    const unsigned char *body;  /* and a zero byte behind it */
    size_t body_len;
    struct queue_attribute *attributes;
    size_t n_attributes;
    int priority;
    uint32_t attempt;           /* counted attempts before this delivery */
    uint32_t deliveries;        /* this one included */
    uint32_t deaths;
    bool suspect;               /* a worker died with it and others: it runs
                                   alone in its process (queue/blame.h) */
    bool lost;                  /* beat() or settle(): somebody else has it */
    int64_t hold_ns;            /* its handler must be gone by then, unless a verb
                                   has moved it (queue/hold_clock.h); 0: never */
    uint32_t generation;        /* redriven with a fresh key so often: part of
                                   the idempotency key */
    uint64_t token;             /* fencing: of this delivery, never reused */
    uint64_t number;            /* the broker's own of the message */
    int64_t queued_ms;          /* first queued; Unix time, broker's clock */
    int64_t due_ms;             /* since when it could have been taken */
    void *user;                 /* the worker's */
};

/* NULL: no memory. What queue_text does not say is 0. */
struct queue_message *queue_message_new(const struct queue_text *text);
void queue_message_free(struct queue_message *m);

/* Appends a line "time attempt error" to the history of errors, which stays
 * under QUEUE_ERRORS_MAX: the oldest lines go first. `to` has room for that and
 * a zero byte. Bytes that are not printable become '?'. */
void queue_errors_add(char *to, const char *before, int64_t now_ms,
                      uint32_t attempt, const char *error);

/* Whether a text may be the name of a queue; of a message (also a key); and
 * whether the two may be an attribute. */
bool queue_name_ok(const char *name);
bool queue_id_ok(const char *id);
bool queue_attribute_ok(const char *name, const char *value);

#endif
