/* Reading the configurations of other systems.
 *
 *     struct bide__import im;
 *     bide__import_init(&im, notes);
 *     if (bide__import_grpc(&im, "service.json", text, len) == 0)
 *         bide__import_write(stdout, &im);
 *     bide__import_done(&im);
 *
 * The policy does what the document says and what its system does by default: a
 * document without a breaker gives a policy without one. Fields without an
 * equivalent in a policy, and unknown fields, give warnings with their
 * position; documents that their own system would refuse are errors. */
#ifndef BIDE_CONFIG_TRANSLATE_IMPORT_H
#define BIDE_CONFIG_TRANSLATE_IMPORT_H

#include "config/doc/tree.h"
#include "config/policy/retry_set.h"
#include "config/policy/write_policy.h"

/* Threads: owned. */
struct bide__import {
    bide_diagnostics *notes;
    struct bide__arena *arena; /* everything the policies point to */
    struct bide__named_policy *policies;
    size_t n, room;
    struct bide__tree *tree;      /* the document being read */
    struct bide__retry_set usual; /* what is retried by default */
    struct bide__import_upstream *upstreams; /* import_proxy.h */
    struct bide__import_route *routes;
    unsigned n_warnings, n_mistakes;
    bool mistaken, no_memory, too_many;
};

int bide__import_init(struct bide__import *im, bide_diagnostics *notes);
void bide__import_done(struct bide__import *im);

/* 0; BIDE_EPARSE with errors in the diagnostics; BIDE_ENOMEM. */
typedef int bide__importer(struct bide__import *im, const char *name,
                           const char *text, size_t len);
bide__importer bide__import_grpc, bide__import_istio, bide__import_envoy;

/* ===== for the importers ===== */

/* A new policy with all defaults and a unique name. NULL: out of memory, or too
 * many, which is reported at `node`. Earlier policies may move. */
struct bide__named_policy *bide__import_add(struct bide__import *im,
                                            const struct bide__node *node,
                                            const char *name);
/* Replaces the comment of an option; NULL: its help text. */
void bide__import_comment(struct bide__named_policy *p, const char *key,
                          const char *text);

/* Checks the resulting policies. 0, BIDE_EPARSE, BIDE_ENOMEM. */
int bide__import_outcome(struct bide__import *im, const char *name);

/* One member of a map. Without `read` it is known but has no equivalent in a
 * policy, and `why` is the warning; with neither it is ignored. */
struct bide__field {
    const char *name;
    void (*read)(struct bide__import *im, void *ctx, struct bide__node *key,
                 struct bide__node *value);
    const char *why;
};

/* Reads a map by a table that ends with a NULL name. Members that are null
 * count as missing. Anything but a map is an error. */
void bide__import_map(struct bide__import *im, const struct bide__node *map,
                      const struct bide__field *fields, void *ctx);

/* Whether it is a list; if not, reports an error. */
bool bide__import_list(struct bide__import *im, const struct bide__node *node);

void bide__import_mistake(struct bide__import *im,
                          const struct bide__node *node, const char *help,
                          const char *message, ...)
    __attribute__((format(printf, 4, 5)));
void bide__import_warn(struct bide__import *im, const struct bide__node *node,
                       const char *message, ...)
    __attribute__((format(printf, 3, 4)));

/* Reports an error: expected this, found that. Always false. */
bool bide__import_refuse(struct bide__import *im, const struct bide__node *node,
                         const char *expected);

/* Scalars. False: it is invalid, and an error has been reported. */
bool bide__import_count(struct bide__import *im, const struct bide__node *node,
                        uint64_t min, uint64_t max, uint64_t *ret);
bool bide__import_number(struct bide__import *im, const struct bide__node *node,
                         double *ret);
bool bide__import_seconds(struct bide__import *im,
                          const struct bide__node *node, int64_t *ret_ns);
bool bide__import_duration(struct bide__import *im,
                           const struct bide__node *node, int64_t *ret_ns);
const char *bide__import_text(struct bide__import *im,
                              const struct bide__node *node);

/* Clips a duration to what bide accepts; warns if that changes it. */
int64_t bide__import_clip(struct bide__import *im,
                          const struct bide__node *node, int64_t ns,
                          int64_t min_ns, int64_t max_ns);

#endif
