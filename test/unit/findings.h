/* What the tests of config/ share: findings as rows, files as strings. */
#ifndef TEST_UNIT_FINDINGS_H
#define TEST_UNIT_FINDINGS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bide/bide.h"
#include "bide/config.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Whether a finding of this code is at this place. */
static inline int has_finding(const bide_diagnostics *notes, const char *code,
                              unsigned line, unsigned column)
{
    const bide_diagnostic *d;

    for (size_t i = 0; (d = bide_diagnostics_at(notes, i)); i++)
        if (strcmp(d->code, code) == 0 && d->line == line &&
            d->column == column)
            return 1;
    return 0;
}

/* A block of exactly this size, so that a sanitizer sees a read past its end.
 */
static inline char *exact_copy(const char *text, size_t len)
{
    char *copy = malloc(len ? len : 1);

    assert_non_null(copy);
    memcpy(copy, text, len);
    return copy;
}

static inline int parse_exactly(bide_config **ret, const char *name,
                                const char *text, size_t len,
                                bide_diagnostics *notes)
{
    char *copy = exact_copy(text, len);
    int rc = bide_config_parse(ret, name, copy, len, notes);

    free(copy);
    return rc;
}

/* A config that must be without mistakes. */
static inline bide_config *must_parse(const char *text)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    bide_config *config = NULL;

    if (parse_exactly(&config, "test.yaml", text, strlen(text), notes) != 0) {
        bide_diagnostics_print(notes, stderr, false);
        fail_msg("refused");
    }
    bide_diagnostics_free(notes);
    return config;
}

#endif
