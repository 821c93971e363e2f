/* Tells a script from a log, and logs by their format, from the first lines.
 *
 * A line of a script is a JSON object with an `event`; comments are a script's,
 * too. Anything else that begins with `{` and is no line of a JSON log is taken
 * for a script, whose reader says best what is wrong with it. Of the formats of
 * logs the first wins that most lines are in. */
#include <stdbool.h>
#include <string.h>

#include "config/doc/tree.h"
#include "replay/format.h"
#include "replay/log.h"
#include "replay/source.h"

enum { LINES_MAX = 20 };

/* Threads: owned. */
struct lines {
    const char *at[LINES_MAX];
    size_t len[LINES_MAX];
    size_t n;
};

/* Whole lines only, unless there is but one. */
static void split(struct lines *lines, const char *text, size_t len)
{
    const char *end = text + len;

    lines->n = 0;
    while (text < end && lines->n < LINES_MAX) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((stop ? stop : end) - text);

        if (!stop && lines->n > 0)
            break;
        if (n > 0 && text[n - 1] == '\r')
            n--;
        if (n > 0) {
            lines->at[lines->n] = text;
            lines->len[lines->n++] = n;
        }
        text = stop ? stop + 1 : end;
    }
}

static bool has_event(const char *text, size_t len)
{
    struct bide__tree *tree = NULL;
    bool has = false;

    if (bide__tree_json(&tree, "line", text, len, NULL) == 0) {
        has = tree->root && tree->root->kind == BIDE__MAP &&
              bide__map_get(tree->root, "event", NULL);
        bide__tree_free(tree);
    }
    return has;
}

static size_t matches(const struct lines *lines, const char *name)
{
    const char *why;
    struct replay_format *f = replay_format_new(name, &why);
    struct replay_line line;
    bool latency;
    size_t n = 0;

    for (size_t i = 0; f && i < lines->n; i++)
        n += replay_format_line(f, lines->at[i], lines->len[i], &line, &latency,
                                &why) == 0;
    replay_format_free(f);
    return n;
}

const char *replay_sniff(const char *text, size_t len)
{
    struct lines lines;
    const char *best = NULL;
    size_t most = 0;

    split(&lines, text, len);
    if (lines.n == 0 || *lines.at[0] == '#')
        return "script";
    for (size_t i = 0; i < lines.n; i++)
        if (*lines.at[i] == '{' && has_event(lines.at[i], lines.len[i]))
            return "script";
    for (size_t i = 0; replay_format_names[i]; i++) {
        size_t n = matches(&lines, replay_format_names[i]);
        if (n > most) {
            most = n;
            best = replay_format_names[i];
        }
    }
    return best ? best : *lines.at[0] == '{' ? "script" : NULL;
}
