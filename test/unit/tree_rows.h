/* tree_rows.h: texts that are read into a tree, and those that are refused. The
 * file that includes it says which reader: READ_TREE and the name of its file,
 * READ_NAME. */
#ifndef BIDE_TEST_TREE_ROWS_H
#define BIDE_TEST_TREE_ROWS_H

#include "config/doc/tree.h"
#include "findings.h"

static inline int read_text(struct bide__tree **ret, const char *text,
                            size_t len, bide_diagnostics *notes)
{
    char *copy = exact_copy(text, len);
    int rc = READ_TREE(ret, READ_NAME, copy, len, notes);

    free(copy);
    return rc;
}

static inline struct bide__tree *must_read(const char *text)
{
    struct bide__tree *tree = NULL;

    if (read_text(&tree, text, strlen(text), NULL) != 0)
        fail_msg("refused: %s", text);
    return tree;
}

struct refused {
    const char *text;
    const char *code;
    unsigned line, column;
};

/* With findings or without them, it is a mistake, and there is no tree. */
static inline void must_refuse(const struct refused *row)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    struct bide__tree *tree = NULL;
    size_t len = strlen(row->text);
    int rc = read_text(&tree, row->text, len, notes);

    if (rc != BIDE_EPARSE || tree ||
        !has_finding(notes, row->code, row->line, row->column)) {
        bide_diagnostics_print(notes, stderr, false);
        fail_msg("%s: %d", row->text, rc);
    }
    bide_diagnostics_free(notes);
    assert_int_equal(read_text(&tree, row->text, len, NULL), BIDE_EPARSE);
}

#endif
