/* Writing JSON that is valid whatever the input.
 *
 *     struct bide__json j;
 *     bide__json_init(&j, stdout, true);
 *     bide__json_object(&j, NULL);
 *     bide__json_text(&j, "reason", "budget");
 *     bide__json_number(&j, "wait_ms", 12.5);
 *     bide__json_row(&j, "waits_ms");
 *     bide__json_number(&j, NULL, 100);
 *     bide__json_end(&j);
 *     bide__json_end(&j);
 *     bide__json_done(&j);       // a newline
 *
 *     struct bide__out out = { 0 };
 *     bide__json_into(&j, &out); // without blanks, into a buffer
 *
 * `key` is NULL inside a list. Bytes that are not UTF-8 become U+FFFD, control
 * characters are escaped, and numbers that JSON cannot express become null. */
#ifndef BIDE_BASE_JSON_H
#define BIDE_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/out.h"

/* Threads: owned. */
struct bide__json {
    struct bide__out *out; /* or NULL, and it goes to */
    FILE *file;
    bool pretty;
    unsigned depth; /* under 64; the masks below have a bit for each level */
    uint64_t begun; /* something has been written at this level */
    uint64_t lists; /* it is a list, not an object */
    uint64_t rows;  /* it stands on one line */
};

/* Writes to a stream: indented for people, or one document per line. */
void bide__json_init(struct bide__json *j, FILE *out, bool pretty);

/* Writes into a buffer, without white space. */
void bide__json_into(struct bide__json *j, struct bide__out *out);

void bide__json_object(struct bide__json *j, const char *key);
void bide__json_list(struct bide__json *j, const char *key);
void bide__json_end(struct bide__json *j);

/* Whether the next value has no key. */
bool bide__json_in_list(const struct bide__json *j);

/* A list, or an object, that is written on one line. */
void bide__json_row(struct bide__json *j, const char *key);
void bide__json_object_row(struct bide__json *j, const char *key);

/* A NULL text becomes null. */
void bide__json_text(struct bide__json *j, const char *key, const char *text);
void bide__json_text_n(struct bide__json *j, const char *key, const char *text,
                       size_t len);
void bide__json_hex(struct bide__json *j, const char *key, const uint8_t *bytes,
                    size_t len);
void bide__json_number(struct bide__json *j, const char *key, double number);
void bide__json_integer(struct bide__json *j, const char *key, int64_t number);
void bide__json_count(struct bide__json *j, const char *key, uint64_t count);
void bide__json_flag(struct bide__json *j, const char *key, bool flag);
void bide__json_null(struct bide__json *j, const char *key);

/* Nanoseconds as milliseconds, to the microsecond. */
void bide__json_ms(struct bide__json *j, const char *key, int64_t ns);

/* Writes text that the caller has formatted, unchecked. */
void bide__json_raw(struct bide__json *j, const char *key, const char *text);

/* Ends a document with a line break. */
void bide__json_done(struct bide__json *j);

#endif
