/* Reading what other systems speak.
 *
 *     struct bide__import im;
 *     bide__import_init(&im, notes);
 *     if (bide__import_grpc(&im, "service.json", text, len) == 0)
 *         bide__write_policies(stdout, im.policies, im.n);
 *     bide__import_done(&im);
 *
 * The policy does what the document says and what its system does besides: a
 * document without a breaker gives a policy without one. Fields that mean
 * nothing to a policy, and fields that nobody knows, are warnings with their
 * place; documents that their own system would refuse are mistakes. */
#ifndef BIDE_CONFIG_TRANSLATE_IMPORT_H
#define BIDE_CONFIG_TRANSLATE_IMPORT_H

#include "config/doc/tree.h"
#include "config/policy/retry_set.h"
#include "config/policy/write_policy.h"

/* Threads: owned. */
struct bide__import {
    bide_diagnostics *notes;
    struct bide__arena *arena; /* of all that the policies point to */
    struct bide__named_policy *policies;
    size_t n, room;
    struct bide__tree *tree;      /* the document that is being read */
    struct bide__retry_set usual; /* what is retried by default */
    unsigned n_warnings, n_mistakes;
    bool mistaken, no_memory, too_many;
};

int bide__import_init(struct bide__import *im, bide_diagnostics *notes);
void bide__import_done(struct bide__import *im);

/* 0; BIDE_EPARSE with mistakes in the diagnostics; BIDE_ENOMEM. */
typedef int bide__importer(struct bide__import *im, const char *name,
                           const char *text, size_t len);
bide__importer bide__import_grpc, bide__import_istio;

/* ===== for the importers ===== */

/* A new policy, all defaults, with a name that no other one has; NULL: no
 * memory, or too many, for which `node` is blamed. Earlier ones may move. */
struct bide__named_policy *bide__import_add(struct bide__import *im,
                                            const struct bide__node *node,
                                            const char *name);
/* Says something of an option, in place of what was said; NULL: its help. */
void bide__import_comment(struct bide__named_policy *p, const char *key,
                          const char *text);

/* Checks what came out. 0, BIDE_EPARSE, BIDE_ENOMEM. */
int bide__import_outcome(struct bide__import *im, const char *name);

/* One member of a map. Without `read` it is known and has no place in a policy;
 * `why` says so, and with neither it is passed over in silence. */
struct bide__field {
    const char *name;
    void (*read)(struct bide__import *im, void *ctx, struct bide__node *key,
                 struct bide__node *value);
    const char *why;
};

/* Reads a map by a table that ends with a NULL name. Members that are null are
 * not there. What is not a map is a mistake. */
void bide__import_map(struct bide__import *im, const struct bide__node *map,
                      const struct bide__field *fields, void *ctx);

/* Whether it is a list; if not, that is a mistake. */
bool bide__import_list(struct bide__import *im, const struct bide__node *node);

void bide__import_mistake(struct bide__import *im,
                          const struct bide__node *node, const char *help,
                          const char *message, ...)
    __attribute__((format(printf, 4, 5)));
void bide__import_warn(struct bide__import *im, const struct bide__node *node,
                       const char *message, ...)
    __attribute__((format(printf, 3, 4)));

/* Tells a mistake: expected this, found that. False, to be passed on. */
bool bide__import_refuse(struct bide__import *im, const struct bide__node *node,
                         const char *expected);

/* Scalars. False: it is not one, and that has been told as a mistake. */
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

/* Brings a duration within what bide takes; if that changes it, warns. */
int64_t bide__import_clip(struct bide__import *im,
                          const struct bide__node *node, int64_t ns,
                          int64_t min_ns, int64_t max_ns);

#endif
