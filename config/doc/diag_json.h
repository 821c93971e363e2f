/* Findings for machines: their codes (diag_codes.c), and as JSON and SARIF
 * (diag_json.c). */
#ifndef BIDE_CONFIG_DOC_DIAG_JSON_H
#define BIDE_CONFIG_DOC_DIAG_JSON_H

#include <stddef.h>

#include "bide/config.h"

/* The codes of mistakes and what they stand for; lints have their own table
 * (policy_file.h). Sorted by code. */
struct bide__diag_code {
    const char *code; /* "unknown-key" */
    const char *text; /* one sentence */
};
const struct bide__diag_code *bide__diag_codes(size_t *ret_n);

/* As JSON (a list of objects; inside an object under the key `findings`), and as
 * SARIF 2.1.0 for code-review tools. */
struct bide__json;
void bide__diag_json(const bide_diagnostics *notes, struct bide__json *out);
void bide__diag_sarif(const bide_diagnostics *notes, struct bide__json *out);

#endif
