/* diag.c: findings, collected while a file is read.
 *
 * A finding is added once, with a node; its position and line are copied here,
 * so that findings outlive the tree. A file that is wrong everywhere gives a
 * thousand findings and then a note that there are more: no one reads on, and
 * the rest would take unlimited time. */
#include "config/doc/diag.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/suggest.h"
#include "config/doc/diag_text.h"

enum { MAX_PER_FILE = 1000 };

struct item {
    bide_diagnostic d;
    unsigned file_no;      /* in the order in which files came up */
    size_t seq;            /* in the order in which findings came up */
    size_t parent;         /* index of what a note belongs to, while unsorted */
    unsigned line, column; /* to sort by: a note's are its parent's */
};

struct bide_diagnostics {
    struct bide__arena *arena;
    struct item *items;
    size_t n, room;
    size_t mistakes;
    size_t in_file; /* findings in the file of the last one */
    size_t last;    /* index of the last one that is no note */
    bool failed, dropping;
    bool repeating; /* the last one was there before; so are its notes */
};

bide_diagnostics *bide_diagnostics_new(void)
{
    bide_diagnostics *notes = calloc(1, sizeof *notes);

    if (notes)
        notes->arena = bide__arena_new();
    if (notes && !notes->arena) {
        free(notes);
        return NULL;
    }
    return notes;
}

void bide_diagnostics_free(bide_diagnostics *notes)
{
    if (!notes)
        return;
    bide__arena_free(notes->arena);
    free(notes->items);
    free(notes);
}

size_t bide_diagnostics_size(const bide_diagnostics *notes)
{
    return notes ? notes->n : 0;
}

const bide_diagnostic *bide_diagnostics_at(const bide_diagnostics *notes,
                                           size_t i)
{
    return notes && i < notes->n ? &notes->items[i].d : NULL;
}

size_t bide_diagnostics_count(const bide_diagnostics *notes,
                              bide_severity severity)
{
    size_t count = 0;

    for (size_t i = 0; i < bide_diagnostics_size(notes); i++)
        count += notes->items[i].d.severity == severity;
    return count;
}

size_t bide__diag_mistakes(const bide_diagnostics *notes)
{
    return notes ? notes->mistakes : 0;
}

bool bide__diag_full(const bide_diagnostics *notes)
{
    return !notes || notes->dropping;
}

bool bide__diag_failed(const bide_diagnostics *notes)
{
    return notes && notes->failed;
}

/* ===== texts ===== */

static const char *kept(bide_diagnostics *notes, const char *text)
{
    size_t len = strlen(text);
    char *copy = bide__text_safe(text, len)
                     ? bide__arena_copy(notes->arena, text, len)
                     : bide__text_made_safe(notes->arena, text, len);

    if (!copy)
        notes->failed = true;
    return copy;
}

const char *bide__diag_text(bide_diagnostics *notes, const char *format, ...)
{
    va_list args;
    char *text;

    if (!notes)
        return NULL;
    va_start(args, format);
    text = bide__arena_vprintf(notes->arena, format, args);
    va_end(args);
    if (!text)
        notes->failed = true;
    return text;
}

const char *bide__did_you_mean(bide_diagnostics *notes, const char *found,
                               const char *const *known)
{
    struct bide__out out = { 0 };
    const char *text = NULL;

    if (bide__diag_full(notes))
        return NULL;
    if (bide__suggest(&out, found, known)) {
        notes->failed |= out.failed;
        text = bide__diag_text(notes, "%.*s", (int)out.len, out.data);
    }
    bide__out_done(&out);
    return text;
}

/* The file's name, once for all findings in it. */
static const char *file_of(bide_diagnostics *notes, const char *file)
{
    const struct item *last = notes->n ? &notes->items[notes->n - 1] : NULL;

    if (last && strcmp(last->d.file, file) == 0)
        return last->d.file;
    notes->in_file = 0;
    notes->dropping = false;
    return kept(notes, file);
}

/* ===== the line that is shown ===== */

/* Findings in one line share its copy: a file may be one line of a megabyte. */
static const char *excerpt(bide_diagnostics *notes, const char *file,
                           const char *text, size_t len, unsigned line)
{
    const struct item *last = notes->n ? &notes->items[notes->n - 1] : NULL;
    size_t n;
    const char *at, *copy;

    if (!text || line == 0)
        return NULL;
    at = bide__find_line(text, len, line, &n);
    if (last && last->d.excerpt && last->d.line == line &&
        last->d.file == file && strlen(last->d.excerpt) == n &&
        memcmp(last->d.excerpt, at, n) == 0)
        return last->d.excerpt;
    if (n && memchr(at, '\0', n))
        return NULL; /* a line that no string can hold */
    copy = bide__arena_copy(notes->arena, at, n);
    if (!copy)
        notes->failed = true;
    return copy;
}

/* ===== adding ===== */

static bool make_room(bide_diagnostics *notes)
{
    size_t room = notes->room ? notes->room * 2 : 16;
    struct item *items;

    if (notes->n < notes->room)
        return true;
    items = realloc(notes->items, room * sizeof *items);
    if (!items) {
        notes->failed = true;
        return false;
    }
    notes->items = items;
    notes->room = room;
    return true;
}

/* Takes down what belongs with which, for the sorting later. */
static void place_item(bide_diagnostics *notes, struct item *item)
{
    const struct item *before = notes->n ? &notes->items[notes->n - 1] : NULL;

    item->seq = notes->n;
    item->file_no =
        before ? before->file_no + (item->d.file != before->d.file) : 0;
    item->parent = notes->n;
    if (item->d.severity == BIDE_NOTE && notes->n > 0)
        item->parent = notes->last;
    else
        notes->last = notes->n;
    item->line = item->d.line;
    item->column = item->d.column;
    if (item->parent != notes->n) {
        item->line = notes->items[item->parent].line;
        item->column = notes->items[item->parent].column;
        item->file_no = notes->items[item->parent].file_no;
    }
}

/* An alias leads to the same position again, and an inherited option to the
 * same error: once is enough. */
static bool is_repeated(const bide_diagnostics *notes, const bide_diagnostic *d)
{
    if (d->severity == BIDE_NOTE)
        return notes->repeating;
    for (size_t i = notes->n; i > 0 && d->line; i--) {
        const bide_diagnostic *other = &notes->items[i - 1].d;

        if (other->file != d->file)
            break;
        if (other->line == d->line && other->column == d->column &&
            strcmp(other->code, d->code) == 0 &&
            strcmp(other->message, d->message) == 0)
            return true;
    }
    return false;
}

static void push(bide_diagnostics *notes, const bide_diagnostic *d)
{
    struct item item = { .d = *d };

    if (!d->file || !d->message)
        return;
    notes->repeating = is_repeated(notes, d);
    if (notes->repeating || !make_room(notes))
        return;
    place_item(notes, &item);
    notes->items[notes->n++] = item;
    notes->in_file++;
}

/* Whether one more is too many; the first such is replaced by a note about
 * it. */
static bool one_too_many(bide_diagnostics *notes, const char *file)
{
    bide_diagnostic d = { .severity = BIDE_MISTAKE,
                          .code = "too-many-errors",
                          .file = file,
                          .message =
                              "and more: only the first 1000 are shown" };

    if (notes->in_file < MAX_PER_FILE)
        return false;
    if (!notes->dropping)
        push(notes, &d);
    notes->dropping = true;
    return true;
}

static void add(bide_diagnostics *notes, bide_diagnostic d, const char *file,
                const char *text, size_t len, const char *format, va_list args)
{
    char *message;

    notes->mistakes += d.severity == BIDE_MISTAKE;
    d.file = file_of(notes, file);
    if (!d.file || one_too_many(notes, d.file))
        return;
    message = bide__arena_vprintf(notes->arena, format, args);
    if (!message) {
        notes->failed = true;
        return;
    }
    d.message = kept(notes, message);
    d.help = d.help ? kept(notes, d.help) : NULL;
    d.excerpt = excerpt(notes, d.file, text, len, d.line);
    push(notes, &d);
}

static bide_diagnostic at_mark(struct bide__mark mark, bide_severity severity,
                               const char *code, const char *help)
{
    return (bide_diagnostic){ .severity = severity,
                              .code = code,
                              .line = mark.line,
                              .column = mark.column,
                              .end_line = mark.end_line,
                              .end_column = mark.end_column,
                              .help = help };
}

void bide__diag(bide_diagnostics *notes, const struct bide__tree *tree,
                const struct bide__node *node, bide_severity severity,
                const char *code, const char *help, const char *message, ...)
{
    static const struct bide__mark nowhere = { 0, 0, 0, 0 };
    va_list args;

    if (!notes)
        return;
    va_start(args, message);
    add(notes, at_mark(node ? node->mark : nowhere, severity, code, help),
        tree->name, tree->text, tree->len, message, args);
    va_end(args);
}

void bide__diag_at(bide_diagnostics *notes, const char *file, const char *text,
                   size_t len, struct bide__mark mark, bide_severity severity,
                   const char *code, const char *help, const char *message, ...)
{
    va_list args;

    if (!notes)
        return;
    va_start(args, message);
    add(notes, at_mark(mark, severity, code, help), file, text, len, message,
        args);
    va_end(args);
}

/* ===== sorting ===== */

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_place(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    int c = order(a->file_no, b->file_no);

    if (c == 0)
        c = order(a->line, b->line);
    if (c == 0)
        c = order(a->column, b->column);
    if (c == 0)
        c = order(a->parent, b->parent);
    return c ? c : order(a->seq, b->seq);
}

void bide__diag_sort(bide_diagnostics *notes)
{
    if (!notes || notes->n < 2)
        return;
    qsort(notes->items, notes->n, sizeof *notes->items, by_place);
    notes->last = notes->n - 1;
}
