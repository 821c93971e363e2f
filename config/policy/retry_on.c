/* retry_on.c: lists of exactly what is retried, as rules of the engine.
 *
 * What is listed is transient, or throttled where it says so itself; a last
 * rule makes everything else of its kind permanent. */
#include "config/policy/policy_rules.h"

#define SET(bit) (UINT32_C(1) << (bit))

/* Nothing in the file but a list, which may be empty. */
static bool is_list(struct bide__making *m, const struct bide__node *node,
                    const char *help)
{
    m->about = node;
    if (node->kind == BIDE__LIST)
        return true;
    bide__wrong_rule(m, node, "wrong-type", help, "a list");
    return false;
}

/* One rule for each run of statuses. 429 has a class of its own, and comes
 * first. */
static void push_runs(struct bide__making *m, const bool listed[1001])
{
    if (listed[429])
        bide__push_rule(m, (bide_rule){ .status_min = 429,
                                        .status_max = 429,
                                        .cls = BIDE_THROTTLED });
    for (unsigned s = 100; s < 1000; s++) {
        unsigned first = s;

        while (listed[s])
            s++;
        if (s > first && !(first == 429 && s == 430))
            bide__push_rule(m, (bide_rule){ .status_min = (uint16_t)first,
                                            .status_max = (uint16_t)(s - 1),
                                            .cls = BIDE_TRANSIENT });
    }
}

void bide__retry_statuses(struct bide__making *m, const struct bide__node *list)
{
    bool listed[1001] = { false };
    uint16_t min, max;

    if (!is_list(m, list, "write `status: [502, 503, 504]`"))
        return;
    for (size_t i = 0; i < list->n; i++) {
        if (!bide__read_status(list->items[i], &min, &max)) {
            bide__wrong_status(m, list->items[i]);
            continue;
        }
        for (unsigned s = min; s <= max; s++)
            listed[s] = true;
    }
    push_runs(m, listed);
    bide__push_rule(m, (bide_rule){ .status_min = 400,
                                    .status_max = 999,
                                    .cls = BIDE_PERMANENT });
}

void bide__retry_errors(struct bide__making *m, const struct bide__node *list)
{
    const uint32_t never = BIDE__NO_SERVERS_FAULTS;
    uint32_t set = 0;

    if (!is_list(m, list, "write `errors: [connect, timeout]`"))
        return;
    for (size_t i = 0; i < list->n; i++)
        bide__read_fault(m, list->items[i], &set);
    if (set)
        bide__push_rule(m, (bide_rule){ .faults = set, .cls = BIDE_TRANSIENT });
    set = ~(set | never) & (SET(BIDE_N_FAULTS) - 1);
    if (set)
        bide__push_rule(m, (bide_rule){ .faults = set, .cls = BIDE_PERMANENT });
}

void bide__retry_grpc(struct bide__making *m, const struct bide__node *list)
{
    const uint32_t exhausted = SET(BIDE_GRPC_RESOURCE_EXHAUSTED);
    const uint32_t never = SET(BIDE_GRPC_OK) | SET(BIDE_GRPC_CANCELLED);
    uint32_t set = 0;

    if (!is_list(m, list, "write `grpc: [UNAVAILABLE]`"))
        return;
    for (size_t i = 0; i < list->n; i++)
        bide__read_grpc(m, list->items[i], &set);
    /* Every gRPC call is a POST: to list a code is to say that it is safe to
     * repeat after it, or the list would have no effect. */
    if (set & exhausted)
        bide__push_rule(m, (bide_rule){ .grpc = exhausted,
                                        .cls = BIDE_THROTTLED,
                                        .not_processed = true });
    if (set & ~exhausted)
        bide__push_rule(m, (bide_rule){ .grpc = set & ~exhausted,
                                        .cls = BIDE_TRANSIENT,
                                        .not_processed = true });
    set = ~(set | never) & (SET(BIDE_N_GRPC) - 1);
    if (set)
        bide__push_rule(m, (bide_rule){ .grpc = set, .cls = BIDE_PERMANENT });
}
