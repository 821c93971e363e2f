/* Writing JSON: valid whatever is put in, indented for people or on one line.
 *
 *     struct bide__json j;
 *     bide__json_init(&j, stdout, true);
 *     bide__json_object(&j, NULL);
 *     bide__json_text(&j, "reason", "budget");
 *     bide__json_number(&j, "wait_ms", 12.5);
 *     bide__json_list(&j, "waits_ms");
 *     bide__json_number(&j, NULL, 100);
 *     bide__json_end(&j);
 *     bide__json_end(&j);
 *     bide__json_done(&j);       // a newline
 *
 * `key` is NULL inside a list. Bytes that are not UTF-8 become U+FFFD; numbers
 * that JSON cannot say become null. Numbers are written as briefly as they can be
 * read back exactly, with a dot whatever the locale. */
#ifndef BIDE_BASE_JSON_H
#define BIDE_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Threads: owned. */
struct bide__json {
    FILE *out;
    bool pretty;
    int depth;
    bool empty[64]; /* nothing was written yet at this depth */
    bool list[64];  /* it is a list, not an object */
};

void bide__json_init(struct bide__json *j, FILE *out, bool pretty);
void bide__json_object(struct bide__json *j, const char *key);
void bide__json_list(struct bide__json *j, const char *key);
void bide__json_end(struct bide__json *j);
void bide__json_text(struct bide__json *j, const char *key, const char *text);
void bide__json_text_n(struct bide__json *j, const char *key, const char *text,
                       size_t len);
void bide__json_number(struct bide__json *j, const char *key, double number);
void bide__json_integer(struct bide__json *j, const char *key, int64_t number);
void bide__json_flag(struct bide__json *j, const char *key, bool flag);
void bide__json_null(struct bide__json *j, const char *key);
void bide__json_done(struct bide__json *j);

/* A finite number by itself, in as few digits as give it back exactly. */
#define BIDE__JSON_DIGITS 32
const char *bide__json_digits(double number, char buffer[BIDE__JSON_DIGITS]);

#endif
