/* Points in time as logs and scripts write them. Nothing here depends on the
 * locale or the time zone of the machine. */

#include "replay/instant.h"

#include <stdio.h>

#include "base/date.h"
#include "bide/backoff.h"
#include "bide/bide.h"
#include "bide/policy.h"
#include "lib/ascii.h"

/* ===== dates ===== */

static int whole_text(bool (*read)(const char *, size_t,
                                   struct bide__instant *),
                      const char *text, size_t len, struct bide__instant *ret)
{
    return read(text, len, ret) && ret->len == len ? 0 : BIDE_EPARSE;
}

/* 10/Oct/2000:13:55:36 -0700 */
int replay_time_clf(const char *text, size_t len, int64_t *ret_ns)
{
    struct bide__instant at;
    int rc = whole_text(bide__date_common, text, len, &at);
    if (rc == 0)
        *ret_ns = at.ns;
    return rc;
}

/* 2026-01-02T03:04:05.678Z, +02:00, or without a zone: UTC */
int replay_time_iso(const char *text, size_t len, int64_t *ret_ns,
                    bool *ret_whole)
{
    struct bide__instant at;
    int rc = whole_text(bide__date_rfc3339, text, len, &at);
    if (rc == 0) {
        *ret_ns = at.ns;
        *ret_whole = at.whole;
    }
    return rc;
}

void replay_time_minute(int64_t ns, char *buffer, size_t size)
{
    char date[BIDE__DATE_TEXT];
    bide__date_text(ns / BIDE_SECOND, date);
    snprintf(buffer, size, "%.10s %.5s", date, date + 11);
}

/* ===== numbers ===== */

int replay_decimal(const char *text, size_t len, int64_t unit_ns,
                   int64_t *ret_ns)
{
    const char *at = text, *end = text + len;
    int64_t whole = 0, part = 0, unit = unit_ns;
    bool any = false, fits = true;
    for (; at < end && bide__is_digit(*at); at++, any = true) {
        fits = fits && whole <= (BIDE_FOREVER / unit_ns - 9) / 10;
        whole = fits ? 10 * whole + (*at - '0') : 0;
    }
    if (at < end && *at == '.')
        for (at++; at < end && bide__is_digit(*at); at++, any = true)
            part += (unit /= 10) * (*at - '0');
    if (!any || at != end)
        return BIDE_EPARSE;
    int64_t ns = whole * unit_ns;
    *ret_ns = !fits || ns > BIDE_FOREVER - part ? BIDE_FOREVER : ns + part;
    return 0;
}

/* Seconds since 1970, or thousandths, millionths or billionths of one: today is
 * 1.8e9 s, and each unit begins where the previous one would be the year
 * 5138. */
int replay_time_epoch(const char *text, size_t len, int64_t *ret_ns)
{
    size_t whole = 0;
    int64_t ns, unit = BIDE_SECOND;
    while (whole < len && bide__is_digit(text[whole]))
        whole++;
    if (whole > 18)
        unit = 1;
    else if (whole > 14)
        unit = 1000;
    else if (whole > 11)
        unit = BIDE_MILLISECOND;
    if (replay_decimal(text, len, unit, &ns) < 0 || ns >= BIDE_FOREVER - 1)
        return BIDE_EPARSE;
    *ret_ns = ns;
    return 0;
}
