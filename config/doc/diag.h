/* Adding findings. They are collected, sorted by position and printed
 * together. */
#ifndef BIDE_CONFIG_DOC_DIAG_H
#define BIDE_CONFIG_DOC_DIAG_H

#include "config/doc/tree.h"

/* Adds a finding about a node, or with node NULL about the file. `help` may be
 * NULL; `message` is a format. notes NULL: nothing happens. */
void bide__diag(bide_diagnostics *notes, const struct bide__tree *tree,
                const struct bide__node *node, bide_severity severity,
                const char *code, const char *help, const char *message, ...)
    __attribute__((format(printf, 7, 8)));

/* The same at a place given by numbers, for what is not in a tree. */
void bide__diag_at(bide_diagnostics *notes, const char *file, const char *text,
                   size_t len, struct bide__mark mark, bide_severity severity,
                   const char *code, const char *help, const char *message, ...)
    __attribute__((format(printf, 9, 10)));

/* What bide__suggest() has to say; NULL if that is nothing, or if help is not
 * worth its making now. The text lives in the diagnostics. */
const char *bide__did_you_mean(bide_diagnostics *notes, const char *found,
                               const char *const *known);

/* Formats a text that lives in the diagnostics, for `help`; NULL if there is no
 * memory, which is remembered. */
const char *bide__diag_text(bide_diagnostics *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* All errors ever added, including those that were too many to keep. */
size_t bide__diag_mistakes(const bide_diagnostics *notes);

/* Whether no more findings are kept for now, so that help text is not
 * needed. */
bool bide__diag_full(const bide_diagnostics *notes);

/* Whether a finding was lost because memory ran out. */
bool bide__diag_failed(const bide_diagnostics *notes);

/* Sorts by file and position; notes stay after the finding they belong to. */
void bide__diag_sort(bide_diagnostics *notes);

#endif
