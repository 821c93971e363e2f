/* Parses assertions by recursive descent, keeping positions for messages. */
#include "sim/study/assert.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bide/config.h"
#include "sim/model/memory.h"
#include "sim/study/assert_tree.h"
#include "sim/study/figure_text.h"

enum { DEEPEST = 50 };

/* Threads: owned. */
struct reader {
    const char *text;
    size_t at;
    int depth;
    struct sim_assert *a;
    struct sim_fuss *fuss;
};

static uint32_t read_either(struct reader *r);

/* ===== words ===== */

static const char *here(struct reader *r)
{
    r->at += strspn(r->text + r->at, " \t\n\r");
    return r->text + r->at;
}

static bool accept(struct reader *r, const char *word)
{
    size_t len = strlen(word);

    if (strncmp(here(r), word, len) != 0)
        return false;
    r->at += len;
    return true;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static size_t word_length(const char *text)
{
    size_t len = 0;

    while (is_word(text[len]))
        len++;
    return len;
}

/* The length of the word or sign found here, to be shown in a message. */
static size_t length_of_found(const char *text)
{
    size_t len = word_length(text);

    return len ? len : strcspn(text, " \t\n\r") < 2 ? strlen(text) > 0 : 1;
}

static uint32_t expected(struct reader *r, const char *what)
{
    const char *found = here(r);
    size_t len = length_of_found(found);

    if (!r->fuss->message[0])
        sim_fuss_set(r->fuss, r->at, len, "found %s%.*s%s, expected %s",
                     len ? "`" : "the end", (int)len, found, len ? "`" : "",
                     what);
    return SIM_NONE;
}

/* ===== numbers ===== */

static bool in_unit(enum sim_figure f, const char *text, size_t len,
                    double *ret)
{
    int64_t ns;
    char copy[48], *end;
    bool bare = strspn(text, "0123456789.") >= len;

    switch (sim_figure_unit(f)) {
    case SIM_SECONDS:
        if (bide_parse_duration(text, len, &ns) < 0)
            return false;
        *ret = (double)ns / 1e9;
        return true;
    case SIM_SHARE: /* 50 for 50% would always hold, or never */
        return bide_parse_ratio(text, len, ret) == 0 && (!bare || *ret <= 1);
    case SIM_PER_SECOND:
        if (!bare)
            return bide_parse_rate(text, len, ret) == 0;
        break;
    case SIM_TIMES:
        len -= len > 1 && text[len - 1] == 'x';
        break;
    case SIM_COUNT:
        break;
    }
    if (len >= sizeof copy)
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    errno = 0;
    *ret = strtod(copy, &end);
    return !*end && !errno;
}

static const char *unit_text(enum sim_figure f)
{
    switch (sim_figure_unit(f)) {
    case SIM_SECONDS:
        return "a duration with its unit, such as 5s or 300ms";
    case SIM_SHARE:
        return "a share, such as 20% or 0.2";
    case SIM_PER_SECOND:
        return "a rate, such as 100/s";
    default:
        return "a number, such as 1.2";
    }
}

/* The figure on the other side determines the unit of a number. */
static bool settle_number(struct reader *r, struct sim_side *s,
                          enum sim_figure f)
{
    const char *text = r->text + s->at;

    if (s->len == 5 && memcmp(text, "never", 5) == 0)
        s->number = INFINITY;
    else if (!in_unit(f, text, s->len, &s->number)) {
        sim_fuss_set(r->fuss, s->at, s->len, "found `%.*s` for %s, expected %s",
                     (int)s->len, text, sim_figure_name(f), unit_text(f));
        return false;
    }
    return true;
}

/* ===== sides ===== */

/* Reads a quoted name or a word; returns a copy. */
static char *read_name(struct reader *r)
{
    const char *text = here(r);
    char quote = *text == '\'' || *text == '"' ? *text : '\0';
    size_t len = quote ? strcspn(text + 1, quote == '"' ? "\"" : "'")
                       : word_length(text);

    if (quote && text[1 + len] != quote) {
        sim_fuss_set(r->fuss, r->at, 1 + len,
                     "found no end of the name, expected another %c", quote);
        return NULL;
    }
    char *name = sim_new(len + 1, 1);
    memcpy(name, text + (quote != 0), len);
    r->at += len + (quote ? 2 : 0);
    return name;
}

static bool read_figure(struct reader *r, struct sim_side *s)
{
    const char *text = here(r);
    size_t len = word_length(text);

    if (!s->name)
        s->at = r->at;
    s->figure = sim_figure_find(text, len);
    if (s->figure == SIM_FIGURES) {
        if (len == 0)
            expected(r, "a figure, such as amplification");
        else
            sim_fuss_set(r->fuss, r->at, len, "unknown figure `%.*s`", (int)len,
                         text);
        return false;
    }
    s->is_figure = true;
    r->at += len;
    s->len = r->at - s->at;
    return true;
}

static bool read_side(struct reader *r, struct sim_side *s)
{
    const char *text = here(r);

    *s = (struct sim_side){ .variant = SIM_NONE, .at = r->at };
    if ((*text >= '0' && *text <= '9') || *text == '.' ||
        (strncmp(text, "never", 5) == 0 && !is_word(text[5]))) {
        while (is_word(text[s->len]) ||
               (text[s->len] && strchr("./%", text[s->len])))
            s->len++;
        r->at += s->len;
        return true;
    }
    size_t len = word_length(text);
    if (*text == '\'' || *text == '"' || (len && text[len] == '.')) {
        s->name = read_name(r);
        if (!s->name)
            return false;
        if (!accept(r, "."))
            return expected(r, "`.` and a figure behind a variant") != SIM_NONE;
    }
    return read_figure(r, s);
}

/* ===== comparisons ===== */

static bool read_compare(struct reader *r, enum sim_compare *ret)
{
    static const struct {
        const char *sign;
        enum sim_compare compare;
    } signs[] = { { "<=", SIM_LE }, { ">=", SIM_GE }, { "==", SIM_EQ },
                  { "!=", SIM_NE }, { "<", SIM_LT },  { ">", SIM_GT } };

    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (accept(r, signs[i].sign)) {
            *ret = signs[i].compare;
            return true;
        }
    }
    expected(r, "<, <=, >, >=, == or !=");
    return false;
}

static bool match_sides(struct reader *r, struct sim_side *a,
                        struct sim_side *b)
{
    if (!a->is_figure && !b->is_figure) {
        sim_fuss_set(r->fuss, a->at, b->at + b->len - a->at,
                     "found two numbers, expected a figure on one side");
        return false;
    }
    if (!a->is_figure)
        return settle_number(r, a, b->figure);
    if (!b->is_figure)
        return settle_number(r, b, a->figure);
    if (sim_figure_unit(a->figure) == sim_figure_unit(b->figure))
        return true;
    sim_fuss_set(r->fuss, b->at, b->len,
                 "found %s, expected a figure in the unit of %s",
                 sim_figure_name(b->figure), sim_figure_name(a->figure));
    return false;
}

static uint32_t add_node(struct reader *r, const struct sim_node *node)
{
    struct sim_assert *a = r->a;

    a->nodes = sim_grow(a->nodes, a->n, &a->room, sizeof *a->nodes);
    a->nodes[a->n] = *node;
    return a->n++;
}

static uint32_t read_comparison(struct reader *r)
{
    struct sim_node node = { .kind = SIM_NODE_COMPARE };
    bool ok = read_side(r, &node.left) && read_compare(r, &node.compare) &&
              read_side(r, &node.right) &&
              match_sides(r, &node.left, &node.right);
    uint32_t n = add_node(r, &node); /* after errors too: it owns the names */

    return ok ? n : SIM_NONE;
}

/* ===== the rest of the grammar ===== */

static uint32_t read_single(struct reader *r)
{
    struct sim_node node = { .kind = SIM_NODE_NOT };
    uint32_t n;

    if (r->depth >= DEEPEST)
        return expected(r, "fewer parentheses");
    r->depth++;
    if (*here(r) == '!' && here(r)[1] != '=') {
        r->at++;
        node.a = read_single(r);
        n = node.a == SIM_NONE ? SIM_NONE : add_node(r, &node);
    } else if (accept(r, "(")) {
        n = read_either(r);
        if (n != SIM_NONE && !accept(r, ")"))
            n = expected(r, "`)`, && or ||");
    } else {
        n = read_comparison(r);
    }
    r->depth--;
    return n;
}

static uint32_t read_chain(struct reader *r, enum sim_node_kind kind,
                           const char *sign, uint32_t (*below)(struct reader *))
{
    uint32_t n = below(r);

    while (n != SIM_NONE && accept(r, sign)) {
        struct sim_node node = { .kind = kind, .a = n, .b = below(r) };
        n = node.b == SIM_NONE ? SIM_NONE : add_node(r, &node);
    }
    return n;
}

static uint32_t read_both(struct reader *r)
{
    return read_chain(r, SIM_NODE_AND, "&&", read_single);
}

static uint32_t read_either(struct reader *r)
{
    return read_chain(r, SIM_NODE_OR, "||", read_both);
}

int sim_assert_parse(struct sim_assert **ret, const char *text,
                     struct sim_fuss *fuss)
{
    struct sim_assert *a = sim_new(1, sizeof *a);
    struct reader r = { .text = text, .a = a, .fuss = fuss };

    fuss->message[0] = '\0';
    a->top = read_either(&r);
    if (a->top != SIM_NONE && *here(&r))
        a->top = expected(&r, "&&, || or the end");
    if (a->top == SIM_NONE) {
        sim_assert_free(a);
        return -1;
    }
    *ret = a;
    return 0;
}

void sim_assert_free(struct sim_assert *a)
{
    if (!a)
        return;
    for (uint32_t i = 0; i < a->n; i++) {
        free(a->nodes[i].left.name);
        free(a->nodes[i].right.name);
    }
    free(a->nodes);
    free(a);
}
