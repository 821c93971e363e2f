/* The frame of a request: the resource, and the scope. */
#include "observe/export/otlp_parts.h"

#include "bide/version.h"

void bide__otlp_resource(struct bide__otlp *w,
                         const struct bide__otlp_source *from)
{
    bide__otlp_message(w, 1, "resource");
    bide__otlp_list(w, "attributes");
    bide__otlp_attribute(w, 1, BIDE__KEY("service.name"), from->service);
    if (from->instance)
        bide__otlp_attribute(w, 1, BIDE__KEY("service.instance.id"),
                             from->instance);
    bide__otlp_attribute(w, 1, BIDE__KEY("service.version"), bide_version());
    bide__otlp_end(w);
    bide__otlp_end(w);
}

void bide__otlp_scope(struct bide__otlp *w)
{
    bide__otlp_message(w, 1, "scope");
    bide__otlp_text(w, 1, "name", "bide");
    bide__otlp_text(w, 2, "version", bide_version());
    bide__otlp_end(w);
}

void bide__otlp_open(struct bide__otlp *w, const struct bide__otlp_source *from,
                     const char *resources, const char *scopes)
{
    bide__otlp_begin(w);
    bide__otlp_list(w, resources);
    bide__otlp_message(w, 1, NULL);
    bide__otlp_resource(w, from);
    bide__otlp_list(w, scopes);
    bide__otlp_message(w, 2, NULL);
    bide__otlp_scope(w);
}

void bide__otlp_close(struct bide__otlp *w)
{
    bide__otlp_end(w); /* the scope's */
    bide__otlp_end(w);
    bide__otlp_end(w); /* the resource's */
    bide__otlp_end(w);
    bide__otlp_finish(w);
}
