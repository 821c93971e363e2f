/* proxy/access_line.h: a request as a line of the access log.
 *
 *     access_time_look(&now);
 *     access_line_json(&t, ex, &now);
 *
 * access_line.c limits each part, so that lines stay short. Threads: owned. */
#ifndef BIDE_PROXY_ACCESS_LINE_H
#define BIDE_PROXY_ACCESS_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/date.h"
#include "proxy/exchange/text.h"

struct exchange;

/* The time, with its texts, which are written once a second. */
struct access_time {
    int64_t second; /* of the texts; -1: none */
    unsigned ms;
    char iso[BIDE__DATE_TEXT];    /* "2026-01-02T03:04:05" */
    char common[BIDE__DATE_TEXT]; /* "02/Jan/2026:03:04:05 +0000" */
};

void access_time_look(struct access_time *time);

void access_line_json(struct text *t, const struct exchange *ex,
                      const struct access_time *time);

/* Common log format; `combined` adds Referer and User-Agent. */
void access_line_common(struct text *t, const struct exchange *ex,
                        const struct access_time *time, bool combined);

#endif
