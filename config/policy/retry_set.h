/* The statuses, faults and gRPC codes that a policy retries. */
#ifndef BIDE_CONFIG_POLICY_RETRY_SET_H
#define BIDE_CONFIG_POLICY_RETRY_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/policy.h"

struct bide__arena;
struct bide__translation;

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

#endif
