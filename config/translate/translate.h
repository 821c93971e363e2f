/* Translating policies to and from the configurations of other systems.
 *
 * An exporter reads a policy, writes a document, and records what happened to
 * each option. At the end, all options of the table are checked: any option
 * that is not at its default and was not kept is reported. So no option can be
 * dropped silently, not even one that is added next year.
 *
 *     struct bide__translation t;
 *     bide__translation_init(&t, "gRPC", &conf);
 *     bide__kept(&t, "deadline");
 *     bide__approximated(&t, "attempts", "treats more than 5 as 5",
 *                        "maxAttempts %d", 5);
 *     bide__translation_finish(&t);
 *     bide__translation_print(&t, "export", stderr);
 *     bide__translation_done(&t);
 */
#ifndef BIDE_CONFIG_TRANSLATE_TRANSLATE_H
#define BIDE_CONFIG_TRANSLATE_TRANSLATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "bide/config.h"

struct bide__json;

/* ===== what happened to each option ===== */

enum bide__fate {
    BIDE__UNSAID, /* the exporter said nothing */
    BIDE__KEPT,
    BIDE__APPROXIMATED,
    BIDE__LOST,
    BIDE__UNUSED /* this policy does not use it: nothing is lost */
};

struct bide__finding {
    enum bide__fate fate;
    bool is_default;     /* the option is at its default */
    bool quiet;          /* not reported at its default */
    const char *key;     /* "backoff.jitter"; "rules[2]" */
    const char *value;   /* "equal" */
    const char *why;     /* "its jitter is always full" */
    const char *instead; /* "full jitter"; or NULL */
    struct bide__finding *next;
};

/* Threads: owned. */
struct bide__translation {
    const char *target; /* "Envoy" */
    const bide_policy_conf *conf;
    struct bide__arena *arena;
    struct bide__finding *options; /* one for each row of the table */
    struct bide__finding *others, **last_other; /* rules, retry_on */
    const char *caveats[4];                     /* true of any policy */
    int n_caveats;
    bool no_memory;
};

int bide__translation_init(struct bide__translation *t, const char *target,
                           const bide_policy_conf *conf);
void bide__translation_done(struct bide__translation *t);

void bide__kept(struct bide__translation *t, const char *key);
void bide__lost(struct bide__translation *t, const char *key, const char *why);
void bide__approximated(struct bide__translation *t, const char *key,
                        const char *why, const char *instead, ...)
    __attribute__((format(printf, 4, 5)));

/* Reports these options only if they are not at their defaults: what they
 * belong to is reported already. The list ends with NULL. */
void bide__quietly(struct bide__translation *t, const char *const *keys);

/* The same for things that are not options: a rule, a list of retry_on. */
void bide__lost_other(struct bide__translation *t, const char *key,
                      const char *value, const char *why, const char *instead);

/* Adds a remark that holds for every policy. */
void bide__caveat(struct bide__translation *t, const char *text);

/* Checks the options that were not recorded. 0, or BIDE_ENOMEM. */
int bide__translation_finish(struct bide__translation *t);

/* Whether anything that the policy sets is not kept. */
bool bide__translation_lossy(const struct bide__translation *t);

/* One line each, then one for all defaults that the target handles
 * differently. */
void bide__translation_print(const struct bide__translation *t,
                             const char *command, FILE *out);
void bide__translation_json(const struct bide__translation *t,
                            struct bide__json *out);

/* Why this policy does not use an option, or NULL if it does. */
const char *bide__option_unused(const bide_policy_conf *conf, const char *key);

/* Whether the policy ever makes a second attempt. */
bool bide__tries_again(const bide_policy_conf *conf);

/* ===== exporting ===== */

struct bide__export_names {
    const char *policy;  /* never NULL */
    const char *host;    /* never NULL */
    const char *service; /* or NULL */
    const char *method;  /* or NULL */
};

typedef void bide__exporter(struct bide__translation *t,
                            const struct bide__export_names *names, FILE *out);
bide__exporter bide__export_grpc, bide__export_envoy, bide__export_istio,
    bide__export_gateway;

#endif
