/* json_read.c: any bytes as JSON; what was read and written is read the same.
 */
#define _GNU_SOURCE /* open_memstream */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "config/doc/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int truth)
{
    if (!truth)
        abort();
}

/* Scalars without quotes are written as text: what counts is the structure. */
static void write_node(struct bide__json *j, const struct bide__node *node)
{
    if (node->kind == BIDE__SCALAR) {
        bide__json_text_n(j, NULL, node->text, node->len);
        return;
    }
    bide__json_list(j, NULL);
    for (size_t i = 0; i < node->n; i++) {
        if (node->kind == BIDE__MAP)
            write_node(j, node->keys[i]);
        write_node(j, node->items[i]);
    }
    bide__json_end(j);
}

static void must_equal(const struct bide__node *a, const struct bide__node *b)
{
    size_t at = 0;

    if (a->kind == BIDE__SCALAR) {
        must(b->kind == BIDE__SCALAR && a->len == b->len &&
             memcmp(a->text, b->text, a->len) == 0);
        return;
    }
    must(b->kind == BIDE__LIST &&
         b->n == (a->kind == BIDE__MAP ? 2 * a->n : a->n));
    for (size_t i = 0; i < a->n; i++) {
        if (a->kind == BIDE__MAP)
            must_equal(a->keys[i], b->items[at++]);
        must_equal(a->items[i], b->items[at++]);
    }
}

static void check_round_trip(const struct bide__tree *tree)
{
    struct bide__tree *again = NULL;
    struct bide__json j;
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    must(out != NULL);
    bide__json_init(&j, out, tree->len % 2);
    write_node(&j, tree->root);
    bide__json_done(&j);
    must(fclose(out) == 0);
    must(bide__tree_json(&again, "again", text, len, NULL) == 0);
    must_equal(tree->root, again->root);
    bide__tree_free(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    struct bide__tree *tree = NULL;
    int rc = bide__tree_json(&tree, "f", size ? (const char *)data : "", size,
                             notes);

    must((rc == 0) == (bide_diagnostics_size(notes) == 0));
    /* The writer has room for 64 levels, the reader for 100. */
    if (tree && tree->root && tree->root->height < 60)
        check_round_trip(tree);
    bide__tree_free(tree);
    bide_diagnostics_free(notes);
    return 0;
}
