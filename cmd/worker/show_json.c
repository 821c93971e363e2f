/* A message as JSON, for bide worker show. */
#include "cmd/worker/show_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cmd/worker/words.h"

static bool is_text(const char *data, size_t len)
{
    for (size_t i = 0, n; i < len; i += n)
        if ((n = bide__utf8_next(data + i, len - i, NULL)) == 0)
            return false;
    return true;
}

/* As text if it is; otherwise `NAME_base64`, which loses nothing. */
static bool json_bytes(struct bide__json *j, const char *name,
                       const unsigned char *data, size_t len)
{
    char key[32];
    char *text;

    if (is_text((const char *)data, len)) {
        bide__json_text_n(j, name, (const char *)data, len);
        return true;
    }
    text = malloc(BIDE__BASE64_SIZE(len));
    if (!text)
        return false;
    snprintf(key, sizeof key, "%s_base64", name);
    bide__json_text_n(j, key, text, bide__base64(text, data, len));
    free(text);
    return true;
}

static void json_death(struct bide__json *j, const struct broker_row *row)
{
    if (row->state != BROKER_IS_DEAD)
        return;
    bide__json_integer(j, "died_ms", row->died_ms);
    bide__json_text(j, "reason", row->reason);
    bide__json_text(j, "class", row->cls);
}

/* One for each line: "WHEN ATTEMPT WHAT". */
static void json_errors(struct bide__json *j, const char *line)
{
    bide__json_list(j, "errors");
    for (size_t len; *line; line += len + (line[len] == '\n')) {
        len = strcspn(line, "\n");
        bide__json_text_n(j, NULL, line, len);
    }
    bide__json_end(j);
}

static void json_message(struct bide__json *j, const struct queue_message *m)
{
    if (*m->key)
        bide__json_text(j, "key", m->key);
    bide__json_integer(j, "priority", m->priority);
    bide__json_count(j, "attempts", m->attempt);
    bide__json_count(j, "deliveries", m->deliveries);
    bide__json_count(j, "deaths", m->deaths);
    bide__json_integer(j, "queued_ms", m->queued_ms);
    bide__json_integer(j, "due_ms", m->due_ms);
    bide__json_object(j, "attributes");
    for (size_t i = 0; i < m->n_attributes; i++)
        bide__json_text(j, m->attributes[i].name, m->attributes[i].value);
    bide__json_end(j);
    json_errors(j, m->errors);
}

bool show_json(const struct broker_row *row)
{
    const struct queue_message *m = row->message;
    struct bide__json j;
    bool all;

    bide__json_init(&j, stdout, true);
    bide__json_object(&j, NULL);
    bide__json_text(&j, "id", m->id);
    bide__json_text(&j, "state", words_state(row->state));
    json_message(&j, m);
    json_death(&j, row);
    all = json_bytes(&j, "output", row->tail, row->tail_len) &&
          json_bytes(&j, "body", m->body, m->body_len);
    bide__json_end(&j);
    bide__json_done(&j);
    return all;
}
