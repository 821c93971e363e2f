/* bide/config.h: policy files (libbide-config).
 *
 *     bide_diagnostics *notes = bide_diagnostics_new();
 *     bide_config *config;
 *     if (bide_config_read(&config, "bide.yaml", notes) < 0) {
 *         bide_diagnostics_print(notes, stderr, false);   // all the errors
 *         return 2;
 *     }
 *     const bide_policy_conf *policy = bide_config_policy(config, "payments");
 *     int rc = bide_dep_new(&dep, "pay", policy);         // NULL: BIDE_EINVAL
 *     bide_config_free(config);                           // dep has a copy
 *     bide_diagnostics_free(notes);
 *
 * A file is YAML or JSON and holds named policies, which may extend each other
 * or a preset. All errors in it are found at once, and reported with their
 * position, what was found and what was expected. */
#ifndef BIDE_CONFIG_H
#define BIDE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "error.h"
#include "policy.h"

BIDE_BEGIN_DECLS

/* ===== what is wrong with a file ===== */

typedef enum bide_severity {
    BIDE_NOTE,    /* belongs to the one before it: "first defined here" */
    BIDE_WARNING, /* valid but harmful: what `bide check` finds */
    BIDE_MISTAKE  /* the file is refused */
} bide_severity;

/* One finding. Lines and columns count from 1; columns count characters, not
 * bytes. The strings live as long as the diagnostics. Threads: immutable. */
typedef struct bide_diagnostic {
    bide_severity severity;
    const char *code;     /* stable: "unknown-key", "L004" */
    const char *file;     /* as the caller named it, "-" for standard input */
    unsigned line, column;         /* 0: of the file as a whole */
    unsigned end_line, end_column; /* just after the last character */
    const char *message;  /* what was found: "unknown key `capp`" */
    const char *help;     /* what to write instead, "did you mean `cap`?"; or
                             NULL */
    const char *excerpt;  /* the line itself, without its end; or NULL */
} bide_diagnostic;

/* Threads: owned. */
typedef struct bide_diagnostics bide_diagnostics;

/* NULL if out of memory. Every function that takes diagnostics also accepts
 * NULL, and then drops the findings. */
BIDE_API bide_diagnostics *bide_diagnostics_new(void);
BIDE_API void bide_diagnostics_free(bide_diagnostics *notes);

/* Returns how many there are: of one severity, or in all. */
BIDE_API size_t bide_diagnostics_count(const bide_diagnostics *notes,
                                       bide_severity severity);
BIDE_API size_t bide_diagnostics_size(const bide_diagnostics *notes);

/* Returns one, in the order of the file; NULL past the last. Lives as long as
 * `notes`, or until more is read with them. */
BIDE_API const bide_diagnostic *bide_diagnostics_at(const bide_diagnostics *notes,
                                                    size_t i);

/* Prints them like a good compiler: position, message, the line with a caret
 * under the error, and what to write instead. */
BIDE_API void bide_diagnostics_print(const bide_diagnostics *notes, FILE *out,
                                     bool colours);

/* ===== policy files ===== */

/* Threads: immutable. */
typedef struct bide_config bide_config;

/* Reads a file ("-": standard input), or a text that messages call `name`. On
 * an error in it returns BIDE_EPARSE, with all findings in `notes`, and leaves
 * *ret_config untouched. A file that cannot be read is a finding as well.
 * BIDE_ENOMEM, BIDE_EINVAL. */
BIDE_API int bide_config_read(bide_config **ret_config, const char *path,
                              bide_diagnostics *notes);
BIDE_API int bide_config_parse(bide_config **ret_config, const char *name,
                               const char *text, size_t len,
                               bide_diagnostics *notes);
BIDE_API void bide_config_free(bide_config *config);

/* Returns a policy by name; NULL as name means `default`, or the only policy.
 * NULL if there is none of that name. Lives as long as the config. */
BIDE_API const bide_policy_conf *bide_config_policy(const bide_config *config,
                                                    const char *name);

/* The policies in the order of the file; NULL past the last. */
BIDE_API const char *bide_config_policy_name(const bide_config *config,
                                             size_t i);

/* ===== values as files write them ===== */

/* Read "250ms", "1.5s", "5m", "1h30m" (units ns us ms s m h d; 0 needs none);
 * "10%" or "0.1"; "1/s", "30/m", "0.5/s". The text need not end in NUL. On
 * BIDE_EPARSE nothing is written. Durations saturate at BIDE_FOREVER. */
BIDE_API int bide_parse_duration(const char *text, size_t len, int64_t *ret_ns);
BIDE_API int bide_parse_ratio(const char *text, size_t len, double *ret);
BIDE_API int bide_parse_rate(const char *text, size_t len, double *ret_per_s);

/* Writes a duration in the shortest exact form: "250ms", "1m30s", "forever".
 * Always ends in NUL; 32 bytes are enough for any. */
BIDE_API const char *bide_format_duration(int64_t ns, char *buffer,
                                          size_t size);

BIDE_END_DECLS
#endif
