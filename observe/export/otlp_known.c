/* The cached parts of spans, in a table by key: a key has one slot, and a new
 * part replaces the old one. */
#include "observe/export/otlp_known.h"

#include <string.h>

static size_t text_len(const struct bide__known_key *key)
{
    return (size_t)key->dep_len + key->endpoint_len + key->method_len;
}

static size_t key_len(const struct bide__known_key *key)
{
    return offsetof(struct bide__known_key, text) + text_len(key);
}

void bide__known_key(struct bide__known_key *key, const struct bide__event *e,
                     size_t method_len)
{
    char *to = key->text;

    key->attempt = e->attempt;
    key->status = e->status;
    key->kind = e->kind;
    key->why = e->why;
    key->action = e->action;
    key->reason = e->reason;
    key->dep_len = e->len[BIDE__DEP];
    key->endpoint_len = e->len[BIDE__ENDPOINT];
    key->method_len = (uint16_t)method_len;
    memcpy(to, bide__event_get(e, BIDE__DEP), key->dep_len);
    to += key->dep_len;
    memcpy(to, bide__event_get(e, BIDE__ENDPOINT), key->endpoint_len);
    to += key->endpoint_len;
    memcpy(to, bide__event_get(e, BIDE__OPERATION), method_len);
}

/* Any hash that spreads: names differ mostly at their ends. */
static size_t place_of(const struct bide__known_key *key)
{
    size_t n = key->attempt * 7u + key->status * 3u + key->kind, at = 0;

    for (int i = 0; i < 3; i++) {
        at += i == 0   ? key->dep_len
              : i == 1 ? key->endpoint_len
                       : key->method_len;
        if (at > 0)
            n = n * 31 + (unsigned char)key->text[at - 1];
    }
    return (n ^ n >> 5) % BIDE__KNOWN;
}

struct bide__known_part *bide__known_find(struct bide__otlp_known *known,
                                          const struct bide__known_key *key)
{
    struct bide__known_part *part = &known->part[place_of(key)];

    if (part->len && memcmp(&part->key, key, key_len(key)) != 0)
        part->len = 0;
    return part;
}

void bide__known_keep(struct bide__known_part *part,
                      const struct bide__known_key *key, const char *data,
                      size_t len)
{
    if (len > sizeof part->data)
        return;
    memcpy(&part->key, key, key_len(key));
    memcpy(part->data, data, len);
    part->len = (uint16_t)len;
}
