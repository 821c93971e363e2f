/* Rules of a policy while they are put together. */
#ifndef BIDE_CONFIG_POLICY_POLICY_RULES_H
#define BIDE_CONFIG_POLICY_POLICY_RULES_H

#include <stdint.h>

#include "bide/outcome.h"
#include "config/policy/load.h"

/* Faults that no policy can list: none at all, what the caller did, what we did,
 * and what the server did not begin with, which is always safe to repeat. */
#define BIDE__NO_SERVERS_FAULTS                                                \
    (1u << BIDE_FAULT_NONE | 1u << BIDE_FAULT_CANCELLED |                      \
     1u << BIDE_FAULT_UPLOAD | 1u << BIDE_FAULT_CONNECTION_WAIT |                \
     1u << BIDE_FAULT_TOO_LONG | 1u << BIDE_FAULT_REFUSED_STREAM)

/* Threads: owned. */
struct bide__making {
    struct bide__load *load;
    const struct bide__node *about; /* to blame if there are too many */
    bide_rule rules[BIDE_MAX_RULES];
    size_t n;
    bool too_many;
};

/* Adds a rule, or says once that there are too many. */
void bide__push_rule(struct bide__making *m, bide_rule rule);

/* "expected ...; found ..." */
void bide__wrong_rule(struct bide__making *m, const struct bide__node *node,
                      const char *code, const char *help, const char *expected);
void bide__wrong_status(struct bide__making *m, const struct bide__node *node);

/* "503" or "500-599"; from 100 to 999. */
bool bide__read_status(const struct bide__node *node, uint16_t *ret_min,
                       uint16_t *ret_max);

/* Read a name into a set or a class, or text; false after a mistake. */
bool bide__read_fault(struct bide__making *m, const struct bide__node *node,
                      uint32_t *set);
bool bide__read_grpc(struct bide__making *m, const struct bide__node *node,
                     uint32_t *set);
bool bide__read_class(struct bide__making *m, const struct bide__node *node,
                      bide_class *ret);
bool bide__read_text(struct bide__making *m, const struct bide__node *node,
                     const char **ret);

/* The members of a list; one value stands for a list of it. */
size_t bide__members(struct bide__node *const *node,
                     struct bide__node *const **ret);

/* The lists of retry_on. */
void bide__retry_statuses(struct bide__making *m,
                          const struct bide__node *list);
void bide__retry_errors(struct bide__making *m, const struct bide__node *list);
void bide__retry_grpc(struct bide__making *m, const struct bide__node *list);

#endif
