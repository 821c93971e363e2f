/* yaml_refuse.c: errors in YAML, in helpful words.
 *
 * libyaml's own messages are kept, since they can be searched for; an
 * explanation is added. */
#include <string.h>

#include "base/utf8.h"
#include "config/doc/diag.h"
#include "config/doc/yaml_reader.h"

static struct bide__mark yaml_mark(const yaml_mark_t *start,
                                   const yaml_mark_t *end)
{
    return (struct bide__mark){ .line = (unsigned)start->line + 1,
                                .column = (unsigned)start->column + 1,
                                .end_line = (unsigned)end->line + 1,
                                .end_column = (unsigned)end->column + 1 };
}

struct bide__mark bide__yaml_mark(const yaml_event_t *event)
{
    return yaml_mark(&event->start_mark, &event->end_mark);
}

void bide__yaml_mistake(struct bide__yaml *r, struct bide__mark mark,
                        const char *code, const char *help, const char *message,
                        const char *what)
{
    struct bide__tree *t = r->b.tree;

    bide__diag_at(r->b.notes, t->name, t->text, t->len, mark, BIDE_MISTAKE,
                  code, help, message, what);
    r->b.mistaken = true;
}

/* ===== what libyaml refuses ===== */

/* What libyaml's messages usually mean. */
static const char *advice(const char *problem)
{
    static const char *const rows[][2] = {
        { "found character that cannot start any token",
          "indent with spaces, not tabs; put text that begins with `@`, `%` or "
          "a backquote in quotes" },
        { "mapping values are not allowed in this context",
          "is the line indented as its neighbours are? Text with `: ` in it "
          "needs quotes" },
        { "could not find expected ':'", "write a key as `key: value`" },
        { "did not find expected key",
          "is the line indented as its neighbours are?" },
        { "did not find expected ',' or '}'", "is a `}` or a comma missing?" },
        { "did not find expected ',' or ']'", "is a `]` or a comma missing?" },
        { "found unexpected end of stream", "is a closing quote missing?" },
    };

    for (size_t i = 0; problem && i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i][0], problem) == 0)
            return rows[i][1];
    return NULL;
}

/* libyaml notices an error at the next token: one at the end of a line is shown
 * there. */
bool bide__yaml_error(struct bide__yaml *r)
{
    const yaml_parser_t *p = &r->parser;
    const char *problem = p->problem ? p->problem : "cannot be understood";
    struct bide__tree *t = r->b.tree;

    if (p->error == YAML_MEMORY_ERROR)
        return bide__build_fail(&r->b, BIDE_ENOMEM);
    if (p->context && strcmp(problem, "found unexpected end of stream") == 0) {
        /* Nothing is wrong at the end but that it has come. */
        bide__yaml_mistake(r, yaml_mark(&p->context_mark, &p->context_mark),
                           "syntax", advice(problem),
                           "not YAML: the file ends %s that begins "
                           "here",
                           p->context);
        return bide__build_fail(&r->b, BIDE_EPARSE);
    }
    bide__yaml_mistake(r, yaml_mark(&p->problem_mark, &p->problem_mark),
                       "syntax", advice(problem), "not YAML: %s", problem);
    if (p->context && p->context_mark.line != p->problem_mark.line)
        bide__diag_at(r->b.notes, t->name, t->text, t->len,
                      yaml_mark(&p->context_mark, &p->context_mark), BIDE_NOTE,
                      "syntax", NULL, "%s that begins here", p->context);
    return bide__build_fail(&r->b, BIDE_EPARSE);
}

/* What YAML calls printable. */
static bool is_printable(uint32_t c)
{
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0x7e) ||
           c == 0x85 || (c >= 0xa0 && c <= 0xfffd && c != 0xfeff) ||
           c >= 0x10000;
}

/* libyaml would stop at such a character without a position. */
bool bide__yaml_printable(struct bide__yaml *r)
{
    struct bide__tree *t = r->b.tree;
    uint32_t point = 0;

    for (size_t i = 0; i < t->len;) {
        size_t n = bide__utf8_next(t->text + i, t->len - i, &point);

        if (!is_printable(point)) {
            bide__diag_at(
                r->b.notes, t->name, t->text, t->len,
                bide__mark_of(t->text, t->len, i, 1), BIDE_MISTAKE, "syntax",
                "take it out, or write it as \"\\u....\" "
                "in double quotes",
                "not YAML: the control character U+%04X", (unsigned)point);
            return bide__build_fail(&r->b, BIDE_EPARSE);
        }
        i += n;
    }
    return true;
}

/* ===== tags ===== */

void bide__yaml_check_tag(struct bide__yaml *r, const yaml_event_t *event,
                          const yaml_char_t *tag)
{
    static const char core[] = "tag:yaml.org,2002:";
    static const char *const names[] = { "str",  "int", "float", "bool",
                                         "null", "map", "seq" };
    const char *text = (const char *)tag;

    if (!text || strcmp(text, "!") == 0)
        return;
    if (strncmp(text, core, sizeof core - 1) == 0)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            if (strcmp(text + sizeof core - 1, names[i]) == 0)
                return;
    bide__yaml_mistake(r, bide__yaml_mark(event), "unsupported-tag",
                       "leave the tag out", "the tag `%s` means nothing here",
                       text);
}
