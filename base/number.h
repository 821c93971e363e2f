/* Numbers as text that reads back exactly: JSON, CSV, metrics, policy files.
 *
 *     char text[BIDE__NUMBER];
 *     puts(bide__number(0.1, text));          // 0.1
 *     puts(bide__number(500000000, text));    // 500000000, not 5e+08
 *     puts(bide__number_digits(1e20, text));  // 1e+20
 *
 * They use the fewest digits that read back exactly, and a decimal point
 * whatever the locale. */
#ifndef BIDE_BASE_NUMBER_H
#define BIDE_BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

enum { BIDE__NUMBER = 32 };

/* A finite number; whole numbers up to 2^53 have no exponent. */
const char *bide__number(double x, char to[BIDE__NUMBER]);

/* Only the digits, of a number that is not whole or is beyond 1e15. */
const char *bide__number_digits(double x, char to[BIDE__NUMBER]);

/* Writes a whole number at the end of `to` and returns where its digits begin.
 * It does not use stdio: a log writes a dozen numbers per request. */
enum { BIDE__WHOLE = 20 };
static inline char *bide__whole(uint64_t n, char to[BIDE__WHOLE])
{
    char *at = to + BIDE__WHOLE;

    do
        *--at = (char)('0' + n % 10);
    while ((n /= 10) != 0);
    return at;
}

#endif
