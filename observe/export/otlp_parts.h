/* What requests with spans and with metrics have in common. */
#ifndef BIDE_OBSERVE_EXPORT_OTLP_PARTS_H
#define BIDE_OBSERVE_EXPORT_OTLP_PARTS_H

#include "observe/export/otlp.h"
#include "observe/export/otlp_writer.h"

/* Opens a request: one resource, and in it one scope, which stays open. The
 * numbers of the fields are the same in both. */
void bide__otlp_open(struct bide__otlp *w, const struct bide__otlp_source *from,
                     const char *resources, const char *scopes);
void bide__otlp_close(struct bide__otlp *w);

/* The two messages in it that do not depend on what follows. */
void bide__otlp_resource(struct bide__otlp *w,
                         const struct bide__otlp_source *from);
void bide__otlp_scope(struct bide__otlp *w);

#endif
