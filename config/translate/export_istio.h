/* The two halves of the Istio exporter. */
#ifndef BIDE_CONFIG_TRANSLATE_EXPORT_ISTIO_H
#define BIDE_CONFIG_TRANSLATE_EXPORT_ISTIO_H

#include "config/translate/mesh.h"
#include "config/translate/translate.h"

/* A name that is valid in Kubernetes: lower-case letters and digits, with
 * dashes between them. */
void bide__kubernetes_name(const char *name, FILE *out);

/* Begins a resource, up to its `spec:`. */
void bide__istio_head(const char *kind, const struct bide__export_names *names,
                      FILE *out);

/* Writes a duration that is an option of the policy; `key` is indented. */
void bide__istio_duration(struct bide__translation *t, FILE *out,
                          const char *option, const char *key, int64_t ns);

/* Writes the DestinationRule, unless it would be empty. */
void bide__istio_rule(const struct bide__mesh *m, struct bide__translation *t,
                      const struct bide__export_names *names, FILE *out);

#endif
