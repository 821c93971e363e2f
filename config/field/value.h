/* The values in files and flags. Those that users of the library also need are
 * in bide/config.h. */
#ifndef BIDE_CONFIG_FIELD_VALUE_H
#define BIDE_CONFIG_FIELD_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bide/config.h"

/* The number of digits at the front. */
size_t bide__count_digits(const char *text, size_t len);

/* Digits, with an optional fraction and exponent; no sign. Gives the nearest
 * double, in any locale. */
int bide__parse_number(const char *text, size_t len, double *ret);

/* The same in hundredths: "99.9" is 0.999. */
int bide__parse_percent(const char *text, size_t len, double *ret);

/* Only digits. Saturates at UINT64_MAX. */
int bide__parse_count(const char *text, size_t len, uint64_t *ret);

/* As written in a file: "10%", "0.5/s", "1.5". 40 bytes are enough. */
const char *bide__format_ratio(double ratio, char *buffer, size_t size);
const char *bide__format_rate(double per_s, char *buffer, size_t size);
const char *bide__format_number(double number, char *buffer, size_t size);

/* A duration for people, rounded: "8.7s". */
const char *bide__format_about(int64_t ns, char *buffer, size_t size);

#endif
