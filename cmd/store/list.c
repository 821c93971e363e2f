/* bide store ls: a table, as wide as the terminal.
 *
 * The widths are those of the first thousand records; however many there are, no
 * more is held in memory. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/common/output.h"
#include "cmd/store/cells.h"
#include "cmd/store/store.h"

enum { HELD = 1000, KEY_LEAST = 8 };

/* In the order in which they are shown. */
enum column { KEY, SCOPE, OWNER, STATE, STATUS, AGE, LEFT, SIZE, COLUMNS };

static const char *const heads[COLUMNS] = { "key", "scope",  "owner", "state",
                                            "status", "age", "left",  "size" };
/* On a narrow terminal these go, the first first. */
static const enum column spare[] = { SIZE, LEFT, OWNER, SCOPE, AGE, STATUS };

struct cells {
    char *text[COLUMNS];
};

struct list {
    FILE *out;
    int width; /* of the terminal; 0: any */
    struct paint paint;
    struct cells held[HELD];
    size_t n_held;
    int widths[COLUMNS]; /* 0: not shown */
    bool begun, no_memory;
    uint64_t rows;
};

/* ===== cells ===== */

static void set(struct list *l, struct cells *to, enum column c,
                const char *text)
{
    to->text[c] = c == KEY || c == SCOPE || c == OWNER ? cell_text(text)
                                                       : strdup(text);
    l->no_memory |= !to->text[c];
}

static struct cells cells_of(struct list *l, const struct bide__store_row *row)
{
    struct cells cells;
    char text[40];
    bool done = row->record.state != BIDE__STORE_CLAIMED;
    set(l, &cells, KEY, row->key);
    set(l, &cells, SCOPE, row->scope);
    set(l, &cells, OWNER, row->owner);
    set(l, &cells, STATE, cell_state(row));
    snprintf(text, sizeof text, "%d", (int)row->record.status);
    set(l, &cells, STATUS, done ? text : "");
    set(l, &cells, AGE,
        cell_age(row->now_ns - row->record.created_ns, text, sizeof text));
    set(l, &cells, LEFT, cell_age(cell_left_ns(row), text, sizeof text));
    set(l, &cells, SIZE, cell_size(row->record.len, text, sizeof text));
    return cells;
}

static void cells_free(struct cells *cells)
{
    for (int c = 0; c < COLUMNS; c++)
        free(cells->text[c]);
}

/* ===== widths ===== */

static int total(const struct list *l)
{
    int sum = -2;
    for (int c = 0; c < COLUMNS; c++)
        sum += l->widths[c] ? l->widths[c] + 2 : 0;
    return sum;
}

static int wider(int a, size_t b)
{
    return (int)b > a ? (int)b : a;
}

/* Columns that are empty are left out; then those that are to spare; then the
 * keys are cut. */
static void measure(struct list *l)
{
    for (int c = 0; c < COLUMNS; c++)
        for (size_t i = 0; i < l->n_held; i++)
            l->widths[c] = wider(l->widths[c], strlen(l->held[i].text[c]));
    for (int c = 0; c < COLUMNS; c++)
        if (l->widths[c])
            l->widths[c] = wider(l->widths[c], strlen(heads[c]));
    if (l->width == 0)
        return;
    int key = l->widths[KEY];
    for (size_t i = 0; i < sizeof spare / sizeof spare[0]; i++) {
        l->widths[KEY] = key < KEY_LEAST ? key : KEY_LEAST;
        if (total(l) <= l->width)
            break;
        l->widths[spare[i]] = 0;
    }
    l->widths[KEY] = 1;
    int left = l->width - total(l) + 1;
    l->widths[KEY] = key < left ? key : left > 4 ? left : 4;
}

/* ===== lines ===== */

/* Cut in the middle: keys that a program makes differ at their ends. */
static void put_cell(struct list *l, enum column c, const char *text, bool last)
{
    int width = l->widths[c], len = (int)strlen(text);
    bool right = c == STATUS || c == AGE || c == LEFT || c == SIZE;
    if (len > width) {
        int head = (width - 2) / 2, tail = width - 2 - head;
        fprintf(l->out, "%.*s..%s", head, text, text + len - tail);
    } else if (right) {
        fprintf(l->out, "%*s", width, text);
    } else {
        fprintf(l->out, "%-*s", last ? 0 : width, text);
    }
    fputs(last ? "\n" : "  ", l->out);
}

static void put_line(struct list *l, const char *const text[COLUMNS])
{
    int last = 0;
    for (int c = 0; c < COLUMNS; c++)
        if (l->widths[c])
            last = c;
    for (int c = 0; c <= last; c++)
        if (l->widths[c])
            put_cell(l, (enum column)c, text[c], c == last);
}

static void put_cells(struct list *l, struct cells *cells)
{
    const char *text[COLUMNS];
    for (int c = 0; c < COLUMNS; c++)
        text[c] = cells->text[c] ? cells->text[c] : "";
    put_line(l, text);
    cells_free(cells);
}

static void begin(struct list *l)
{
    if (l->begun || l->no_memory)
        return;
    l->begun = true;
    if (l->n_held == 0)
        return;
    measure(l);
    fputs(l->paint.bold, l->out);
    put_line(l, heads);
    fputs(l->paint.plain, l->out);
    for (size_t i = 0; i < l->n_held; i++)
        put_cells(l, &l->held[i]);
    l->n_held = 0;
}

static bool on_row(void *ctx, const struct bide__store_row *row)
{
    struct list *l = ctx;
    struct cells cells = cells_of(l, row);
    l->rows++;
    if (!l->begun) {
        l->held[l->n_held++] = cells;
        if (l->n_held == HELD)
            begin(l);
    } else {
        put_cells(l, &cells);
    }
    return !l->no_memory && !ferror(l->out);
}

/* ===== the command ===== */

static bool on_json(void *ctx, const struct bide__store_row *row)
{
    cell_json(ctx, row);
    return !ferror(stdout);
}

static struct bide__store_query query_of(const struct args *args)
{
    return (struct bide__store_query){
        .scope = args->scope,
        .older_ns = args->older_ns > 0 ? args->older_ns : 0,
        .most = args->most,
    };
}

static int list_json(const struct opened *store, const struct args *args,
                     const struct bide__store_count *count)
{
    struct bide__store_query query = query_of(args);
    struct bide__json j;
    char why[512] = "";
    bide__json_init(&j, stdout, true);
    bide__json_object(&j, NULL);
    bide__json_count(&j, "records_kept", count->records);
    bide__json_count(&j, "bytes", count->bytes);
    bide__json_list(&j, "records");
    int rc = store->kind->list(store->self, &query, on_json, &j, why,
                               sizeof why);
    bide__json_end(&j);
    bide__json_end(&j);
    bide__json_done(&j);
    return rc < 0 ? complain("store", "%s", why) : EXIT_OK;
}

static void put_summary(const struct list *l, const struct args *args,
                        const struct bide__store_count *count)
{
    char size[40];
    cell_size(count->bytes, size, sizeof size);
    if (count->records == 0) {
        fputs("no records\n", l->out);
    } else if (args->most && l->rows == args->most &&
               l->rows < count->records) {
        fprintf(l->out, "%s%llu of %llu records, %s in all; -n 0 shows all%s\n",
                l->paint.dim, (unsigned long long)l->rows,
                (unsigned long long)count->records, size, l->paint.plain);
    } else {
        fprintf(l->out, "%s%llu record%s, %s in all%s\n", l->paint.dim,
                (unsigned long long)l->rows, l->rows == 1 ? "" : "s", size,
                l->paint.plain);
    }
}

int store_list(const struct opened *store, const struct args *args)
{
    static struct list list;
    struct bide__store_query query = query_of(args);
    struct bide__store_count count;
    char why[512] = "";
    if (store->kind->count(store->self, &count, why, sizeof why) < 0)
        return complain("store", "%s", why);
    if (args->json)
        return list_json(store, args, &count);
    list.out = stdout;
    list.paint = paint_for(stdout);
    /* A pipe gets whole keys, unless somebody says how wide. */
    bool any_width = !isatty(STDOUT_FILENO) && !getenv("COLUMNS");
    list.width = any_width ? 0 : terminal_width(stdout);
    int rc = store->kind->list(store->self, &query, on_row, &list, why,
                               sizeof why);
    begin(&list);
    if (list.no_memory)
        return complain("store", "out of memory");
    if (rc < 0)
        return complain("store", "%s", why);
    put_summary(&list, args, &count);
    return EXIT_OK;
}
