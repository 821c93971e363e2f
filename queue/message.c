/* Messages in one block of memory, the history of their errors, and names. */
#include "queue/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/date.h"

static size_t room_for(const char *text)
{
    return (text ? strlen(text) : 0) + 1;
}

/* Copies to *at, and moves *at behind it. */
static const char *place(char **at, const char *text)
{
    size_t len = room_for(text);
    char *to = *at;

    memcpy(to, text ? text : "", len);
    *at += len;
    return to;
}

struct queue_message *queue_message_new(const struct queue_text *t)
{
    size_t size = sizeof(struct queue_message) +
                  t->n_attributes * sizeof(struct queue_attribute) +
                  room_for(t->id) + room_for(t->key) + room_for(t->handle) +
                  room_for(t->errors) + t->body_len + 1;
    for (size_t i = 0; i < t->n_attributes; i++)
        size += room_for(t->attributes[i].name) +
                room_for(t->attributes[i].value);
    struct queue_message *m = malloc(size);
    if (!m)
        return NULL;
    *m = (struct queue_message){ .attributes =
                                     (struct queue_attribute *)(m + 1),
                                 .n_attributes = t->n_attributes,
                                 .body_len = t->body_len };
    char *at = (char *)(m->attributes + t->n_attributes);
    m->id = place(&at, t->id);
    m->key = place(&at, t->key);
    m->handle = place(&at, t->handle);
    m->errors = place(&at, t->errors);
    for (size_t i = 0; i < t->n_attributes; i++) {
        m->attributes[i].name = place(&at, t->attributes[i].name);
        m->attributes[i].value = place(&at, t->attributes[i].value);
    }
    if (t->body_len)
        memcpy(at, t->body, t->body_len);
    at[t->body_len] = 0;
    m->body = (unsigned char *)at;
    return m;
}

void queue_message_free(struct queue_message *m)
{
    free(m);
}

/* ===== the history of errors ===== */

static size_t write_line(char *to, size_t size, int64_t now_ms,
                         uint32_t attempt, const char *error)
{
    char when[BIDE__DATE_TEXT];
    int len;

    bide__date_text(now_ms > 0 ? now_ms / 1000 : 0, when);
    len = snprintf(to, size, "%sZ %u %.*s", when, attempt, QUEUE_ERROR_MAX,
                   error);
    if (len < 0)
        return 0;
    size_t n = (size_t)len < size ? (size_t)len : size - 1;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)to[i] < ' ' || to[i] == 127)
            to[i] = '?';
    to[n++] = '\n';
    return n;
}

void queue_errors_add(char *to, const char *before, int64_t now_ms,
                      uint32_t attempt, const char *error)
{
    char line[QUEUE_ERROR_MAX + 80];
    size_t n = write_line(line, sizeof line - 1, now_ms, attempt, error);
    size_t len = strlen(before);
    const char *end = before + len;

    while (len + n > QUEUE_ERRORS_MAX && *before) {
        const char *next = strchr(before, '\n');
        before = next ? next + 1 : end;
        len = (size_t)(end - before);
    }
    memmove(to, before, len);
    memcpy(to + len, line, n);
    to[len + n] = 0;
}

/* ===== names ===== */

bool queue_name_ok(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "0123456789-_.");
    return n > 0 && n <= QUEUE_NAME_MAX && !name[n] && name[0] != '.' &&
           name[0] != '-';
}

bool queue_id_ok(const char *id)
{
    size_t n = strlen(id);

    for (size_t i = 0; i < n; i++)
        if ((unsigned char)id[i] < ' ' || id[i] == 127)
            return false;
    return n > 0 && n <= QUEUE_ID_MAX;
}

bool queue_attribute_ok(const char *name, const char *value)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "0123456789_-.");

    return n > 0 && !name[n] && n + strlen(value) < QUEUE_ATTRIBUTE_MAX;
}
