/* httpdate.c: any bytes as an HTTP-date, by clocks sane and mad.
 *
 * What is taken for a date must be one: written out again by a calendar of the
 * fuzzer's own, in today's form, it must be read as the same instant. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/error.h"
#include "bide/hint.h"

#define FIRST_S INT64_C(-62167219200) /* 0000-01-01 */
#define LAST_S INT64_C(253402300799)  /* 9999-12-31 23:59:59 */
#define UNTOUCHED INT64_C(-7777777777777)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int truth)
{
    if (!truth)
        abort();
}

static int is_leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Counts off whole eras, then years, then months: slow, and plainly right. */
static int format(char *to, size_t size, int64_t s)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    static const int lengths[] = { 31, 28, 31, 30, 31, 30,
                                   31, 31, 30, 31, 30, 31 };
    int64_t day = (s - FIRST_S) / 86400, time = (s - FIRST_S) % 86400;
    int64_t year = day / 146097 * 400;
    int month = 0;

    for (day %= 146097; day >= 365 + is_leap(year); year++)
        day -= 365 + is_leap(year);
    while (day >= lengths[month] + (month == 1 && is_leap(year))) {
        day -= lengths[month] + (month == 1 && is_leap(year));
        month++;
    }
    return snprintf(to, size, "Sun, %02d %.3s %04d %02d:%02d:%02d GMT",
                    (int)day + 1, names + 3 * month, (int)year,
                    (int)(time / 3600), (int)(time / 60 % 60),
                    (int)(time % 60));
}

static void check_date(const char *text, size_t len, int64_t wall_s)
{
    int64_t s = UNTOUCHED, again = UNTOUCHED;
    int rc = bide_http_date(text, len, wall_s, &s);
    char written[64];
    int n;

    must(rc == 0 || (rc == BIDE_EPARSE && s == UNTOUCHED));
    if (rc != 0 || s > LAST_S) /* a leap second, or a mad clock */
        return;
    must(s >= FIRST_S);
    n = format(written, sizeof written, s);
    must(bide_http_date(written, (size_t)n, wall_s, &again) == 0);
    must(again == s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t walls[] = { 0,         1,          784111777,
                                     1767225600, 4102444800, INT64_MAX,
                                     INT64_MIN };
    const char *text = size ? (const char *)data : "";

    for (size_t i = 0; i < sizeof walls / sizeof walls[0]; i++)
        check_date(text, size, walls[i]);
    return 0;
}
