/* The values of a script: numbers, durations, times, choices. Each error says
 * what was expected. */
#include <stdarg.h>
#include <string.h>

#include "config/doc/diag.h"
#include "replay/reader.h"
#include "replay/instant.h"

/* ===== mistakes ===== */

/* The tree is of one line and counts from 1; a finding refers to the file. */
bool replay_mistake(struct replay_reader *r, const struct bide__node *node,
                    const char *code, const char *help, const char *format, ...)
{
    struct bide__mark mark = { 1, 1, 1, 1 };
    char message[512];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (node)
        mark = node->mark;
    mark.line += r->line - 1;
    mark.end_line += r->line - 1;
    bide__diag_at(r->notes, r->file, r->text, r->len, mark, BIDE_MISTAKE, code,
                  help, "%s", message);
    r->mistakes++;
    return false;
}

static bool expected(struct replay_reader *r, const struct bide__node *node,
                     const char *what)
{
    return replay_mistake(r, node, "bad-value", NULL,
                          "found %.200s, expected %s",
                          bide__node_found(r->tree, node), what);
}

/* ===== plain values ===== */

static bool is_word(const struct bide__node *node, const char *word)
{
    return node->kind == BIDE__SCALAR && !node->quoted &&
           bide__node_is(node, word);
}

/* A name may be written as a number: {"call": 7}. */
bool replay_read_text(struct replay_reader *r, const struct bide__node *node,
                      const char **ret)
{
    if (!node)
        return true;
    if (node->kind != BIDE__SCALAR || is_word(node, "null") ||
        memchr(node->text, '\0', node->len))
        return expected(r, node, "text");
    *ret = bide__arena_copy(r->script->arena, node->text, node->len);
    r->no_memory = r->no_memory || !*ret;
    return *ret != NULL;
}

bool replay_read_flag(struct replay_reader *r, const struct bide__node *node,
                      bool *ret)
{
    if (!node)
        return true;
    if (!is_word(node, "true") && !is_word(node, "false"))
        return expected(r, node, "true or false");
    *ret = is_word(node, "true");
    return true;
}

bool replay_read_count(struct replay_reader *r, const struct bide__node *node,
                       uint32_t min, uint32_t max, uint32_t *ret)
{
    int64_t n;
    char what[64];
    if (!node)
        return true;
    if (node->kind != BIDE__SCALAR || node->quoted || node->len > 10 ||
        memchr(node->text, '.', node->len) ||
        replay_decimal(node->text, node->len, 1, &n) < 0 || n < min ||
        n > max) {
        snprintf(what, sizeof what, "a whole number from %lu to %lu",
                 (unsigned long)min, (unsigned long)max);
        return expected(r, node, what);
    }
    *ret = (uint32_t)n;
    return true;
}

/* ===== time ===== */

/* "250ms", or a number of milliseconds. */
static bool is_duration(const struct bide__node *node, int64_t *ret_ns)
{
    if (node->kind != BIDE__SCALAR)
        return false;
    int rc = node->quoted ? bide_parse_duration(node->text, node->len, ret_ns)
                          : replay_decimal(node->text, node->len,
                                           BIDE_MILLISECOND, ret_ns);
    return rc == 0;
}

bool replay_read_duration(struct replay_reader *r,
                          const struct bide__node *node, int64_t *ret_ns)
{
    if (!node || is_duration(node, ret_ns))
        return true;
    return expected(r, node,
                    "a duration (\"250ms\", \"2s\") or a number of "
                    "milliseconds");
}

/* A date is relative to the first date in the script. */
static bool is_date(struct replay_reader *r, const struct bide__node *node,
                    int64_t *ret_ns)
{
    int64_t date;
    bool whole;
    if (node->kind != BIDE__SCALAR || !node->quoted ||
        replay_time_iso(node->text, node->len, &date, &whole) < 0)
        return false;
    if (!r->dated) {
        r->dated = true;
        r->date_ns = date;
        r->script->wall_s = date / BIDE_SECOND;
    }
    *ret_ns = date - r->date_ns;
    return true;
}

bool replay_read_time(struct replay_reader *r, const struct bide__node *node,
                      int64_t *ret_ns)
{
    if (is_date(r, node, ret_ns))
        return true;
    if (is_duration(node, ret_ns) && *ret_ns < BIDE_FOREVER)
        return true;
    return expected(r, node,
                    "a time: a number of milliseconds, a duration (\"1.5s\") "
                    "or a date (\"2026-01-02T03:04:05.678Z\")");
}

/* ===== choices and keys ===== */

bool replay_read_choice(struct replay_reader *r, const struct bide__node *node,
                        const char *const *names, const char *what, int *ret)
{
    if (!node)
        return true;
    for (int i = 0; node->kind == BIDE__SCALAR && names[i]; i++) {
        if (names[i][0] && bide__node_is(node, names[i])) {
            *ret = i;
            return true;
        }
    }
    if (node->kind != BIDE__SCALAR)
        return expected(r, node, what);
    return replay_mistake(
        r, node, "bad-value", bide__did_you_mean(r->notes, node->text, names),
        "found %.200s, expected %s", bide__node_found(r->tree, node), what);
}

bool replay_only_keys(struct replay_reader *r, const struct bide__node *map,
                      const char *const *known)
{
    bool fine = true;
    for (size_t i = 0; i < map->n; i++) {
        const struct bide__node *key = map->keys[i];
        size_t k = 0;
        while (known[k] && !bide__node_is(key, known[k]))
            k++;
        if (!known[k])
            fine = replay_mistake(
                r, key, "unknown-key",
                bide__did_you_mean(r->notes, key->text, known),
                "unknown key %.200s", bide__node_found(r->tree, key));
    }
    return fine;
}
