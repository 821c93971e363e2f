/* The usual span: of a successful call or attempt, most of which is cached
 * (otlp_known.h). All lengths are computed first, and it is written in one
 * pass; byte for byte what otlp_trace.c writes piece by piece.
 *
 *     if (!bide__otlp_plain(out, offset_ns, event, part, path, path_len))
 *         ...                                       // the long way */
#ifndef BIDE_OBSERVE_EXPORT_OTLP_PLAIN_H
#define BIDE_OBSERVE_EXPORT_OTLP_PLAIN_H

#include "observe/export/otlp_known.h"
#include "base/out.h"

/* False: it is not such a span, and nothing was written. */
bool bide__otlp_plain(struct bide__out *out, int64_t wall_offset_ns,
                      const struct bide__event *e,
                      const struct bide__known_part *part, const char *path,
                      size_t path_len);

#endif
