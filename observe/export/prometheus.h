/* The text that a Prometheus scrapes (exposition format 0.0.4).
 *
 *     struct bide__out out = { 0 };
 *     bide__prometheus_write(&out, &watched, bide_now_ns());
 *     send(fd, out.data, out.len, 0);
 *
 * What there is to say is metrics.c's; this is how a scraper wants it said.
 * Times are seconds, counters end in _total, every series of a dependency has
 * the label `dep`. */
#ifndef BIDE_OBSERVE_EXPORT_PROMETHEUS_H
#define BIDE_OBSERVE_EXPORT_PROMETHEUS_H

#include "base/out.h"
#include "observe/event/observed.h"

#define BIDE__PROMETHEUS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Writes all metrics of all that is watched. If memory runs out, out->failed is
 * set. */
void bide__prometheus_write(struct bide__out *out,
                            const struct bide__observed *watched,
                            int64_t now_ns);

/* A label's value as it stands between quotes: escaped, and UTF-8 whatever is
 * put in. For those who write families of their own. */
void bide__prometheus_label(struct bide__out *out, const char *value);

#endif
