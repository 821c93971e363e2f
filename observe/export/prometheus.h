/* The text that a Prometheus scrapes (exposition format 0.0.4).
 *
 *     struct bide__out out = { 0 };
 *     bide__prometheus_write(&out, &observed, bide_now_ns());
 *     send(fd, out.data, out.len, 0);
 *
 * metrics.c provides the metrics; this formats them for a scraper. Times are in
 * seconds, counters end in _total, every series of a dependency has the label
 * `dep`. */
#ifndef BIDE_OBSERVE_EXPORT_PROMETHEUS_H
#define BIDE_OBSERVE_EXPORT_PROMETHEUS_H

#include "base/out.h"
#include "observe/event/observed.h"

#define BIDE__PROMETHEUS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Writes all metrics of everything observed. If memory runs out, out->failed is
 * set. */
void bide__prometheus_write(struct bide__out *out,
                            const struct bide__observed *observed,
                            int64_t now_ns);

/* A label's value as it appears between quotes: escaped, and always valid
 * UTF-8. For callers that write families of their own. */
void bide__prometheus_label(struct bide__out *out, const char *value);

#endif
