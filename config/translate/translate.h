/* Translating policies to and from what other systems speak.
 *
 * An exporter reads a policy and writes a document, and says of each option
 * what became of it. What it says nothing of is looked at in the end, option by
 * option of the table: whatever is not at its default, and was not kept, is
 * told. So an option cannot be dropped silently, not even one that is added
 * next year.
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

/* ===== what became of each option ===== */

enum bide__fate {
    BIDE__UNSAID, /* the exporter said nothing */
    BIDE__KEPT,
    BIDE__APPROXIMATED,
    BIDE__LOST,
    BIDE__UNUSED /* this policy makes no use of it: nothing is lost */
};

struct bide__finding {
    enum bide__fate fate;
    bool is_default;     /* the option stands at its default */
    bool quiet;          /* ... and is then not worth a word */
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

/* Of these options, only what is not at its default is told: what they belong
 * to is told already. Ends with NULL. */
void bide__quietly(struct bide__translation *t, const char *const *keys);

/* The same for what is not an option: a rule, a list of retry_on. */
void bide__lost_other(struct bide__translation *t, const char *key,
                      const char *value, const char *why, const char *instead);

/* Says what is so for every policy. */
void bide__caveat(struct bide__translation *t, const char *text);

/* Looks at what was not said. 0, or BIDE_ENOMEM. */
int bide__translation_finish(struct bide__translation *t);

/* Whether anything that the policy states is not kept. */
bool bide__translation_lossy(const struct bide__translation *t);

/* One line each, then one for all defaults that the target does otherwise. */
void bide__translation_print(const struct bide__translation *t,
                             const char *command, FILE *out);
void bide__translation_json(const struct bide__translation *t,
                            struct bide__json *out);

/* Why this policy makes no use of an option, or NULL if it does. */
const char *bide__option_unused(const bide_policy_conf *conf, const char *key);

/* Whether the policy ever makes a second attempt. */
bool bide__tries_again(const bide_policy_conf *conf);

/* ===== what is retried ===== */

/* The statuses, faults and gRPC codes that a policy retries. */
struct bide__retry_set {
    uint64_t status[16]; /* a bit for each of 0 .. 1023 */
    uint32_t faults;     /* a set of 1u << bide_fault */
    uint32_t grpc;       /* a set of 1u << bide_grpc */
};

/* Works out the set from the rules of a policy and the table of defaults. Rules
 * that ask for more than one thing are told as lost; t may be NULL. */
void bide__retry_set_of(struct bide__retry_set *set,
                        const bide_policy_conf *conf,
                        struct bide__translation *t);

void bide__status_add(struct bide__retry_set *set, unsigned from, unsigned to);
bool bide__status_in(const struct bide__retry_set *set, unsigned status);

/* Whether a status has a name in Go's net/http: Istio takes no others for one.
 */
bool bide__status_registered(unsigned status);

/* "408, 429, 500-599" */
const char *bide__status_text(struct bide__arena *arena,
                              const struct bide__retry_set *set);
/* "connect, reset" and "ABORTED, UNAVAILABLE" */
const char *bide__fault_text(struct bide__arena *arena, uint32_t faults);
const char *bide__grpc_text(struct bide__arena *arena, uint32_t codes);

/* ===== exporting ===== */

struct bide__export_names {
    const char *policy;  /* never NULL */
    const char *host;    /* never NULL */
    const char *service; /* or NULL */
    const char *method;  /* or NULL */
};

typedef void bide__exporter(struct bide__translation *t,
                            const struct bide__export_names *names, FILE *out);
bide__exporter bide__export_grpc, bide__export_envoy, bide__export_istio;

/* What Envoy and Istio share: both are configurations of the same proxy. */
struct bide__mesh {
    struct bide__retry_set retried;
    const char *conditions; /* of retry_on, without status codes */
    bool any_5xx;           /* `5xx` is among them: the codes need no list */
    bool has_budget;
    double budget_percent;
    uint32_t budget_min;
};
void bide__mesh_plan(struct bide__mesh *mesh, struct bide__translation *t);

/* Takes the budget back, where it turns out that nothing will be retried. */
void bide__mesh_no_budget(struct bide__mesh *mesh, struct bide__translation *t);

/* The time that the whole call may take, or BIDE_FOREVER. The timeout of a
 * call's only attempt is one as well. */
int64_t bide__call_timeout(struct bide__translation *t);

/* Says of backoff.factor and backoff.jitter what every proxy does to them. */
void bide__mesh_shape(struct bide__translation *t);

/* "0.100s", as JSON has protobuf durations; and "250ms", as Istio writes them.
 */
#define BIDE__DURATION_SIZE 32
const char *bide__proto_duration(int64_t ns, char buffer[BIDE__DURATION_SIZE]);
const char *bide__go_duration(int64_t ns, char buffer[BIDE__DURATION_SIZE]);
void bide__put_proto_duration(struct bide__json *j, const char *key,
                              int64_t ns);
/* Reads "0.1s", or gives BIDE_EPARSE. */
int bide__parse_proto_duration(const char *text, size_t len, int64_t *ret_ns);

/* 10 for 0.1, and back. */
double bide__percent(double ratio);
double bide__from_percent(double percent);

/* ===== writing policy files ===== */

struct bide__comment {
    const char *key, *text;
};

struct bide__named_policy {
    const char *name;
    const char *extends; /* all is as in that one; or NULL */
    bide_policy_conf conf;
    bool has_retry_on; /* write `retried` as retry_on */
    struct bide__retry_set retried;
    struct bide__comment comments[16]; /* in place of the option's help */
    int n_comments;
};

/* Writes a policy file. What stands at its default is left out, all else is
 * read back by bide_config_parse() as it was. */
void bide__write_policies(FILE *out, const struct bide__named_policy *policies,
                          size_t n);

/* Writes a text as YAML: plain if it is a plain word, else in quotes. */
void bide__write_yaml_text(FILE *out, const char *text);

#endif
