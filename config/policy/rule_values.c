/* rule_values.c: the values that rules and lists of outcomes are made of. */
#include <string.h>

#include "config/doc/diag.h"
#include "config/field/value.h"
#include "config/policy/policy_rules.h"

#define SET(bit) (UINT32_C(1) << (bit))

void bide__push_rule(struct bide__making *m, bide_rule rule)
{
    if (m->n == BIDE_MAX_RULES) {
        if (!m->too_many)
            bide__mistake(m->load, m->about, "too-many-rules",
                          "write ranges, as in `500-599`",
                          "this makes more than %d rules", BIDE_MAX_RULES);
        m->too_many = true;
        return;
    }
    m->rules[m->n++] = rule;
}

void bide__wrong_rule(struct bide__making *m, const struct bide__node *node,
                      const char *code, const char *help, const char *expected)
{
    bide__mistake(m->load, node, code, help, "expected %s; found %s", expected,
                  bide__node_found(m->load->tree, node));
}

bool bide__read_status(const struct bide__node *node, uint16_t *ret_min,
                       uint16_t *ret_max)
{
    const char *dash;
    size_t first;
    uint64_t from, to;

    if (node->kind != BIDE__SCALAR)
        return false;
    dash = memchr(node->text, '-', node->len);
    first = dash ? (size_t)(dash - node->text) : node->len;
    if (bide__parse_count(node->text, first, &from) < 0)
        return false;
    to = from;
    if (dash && bide__parse_count(dash + 1, node->len - first - 1, &to) < 0)
        return false;
    if (from < 100 || to > 999 || from > to)
        return false;
    *ret_min = (uint16_t)from;
    *ret_max = (uint16_t)to;
    return true;
}

/* Tells which of the words it is; none of them is a mistake. */
static bool read_word(struct bide__making *m, const struct bide__node *node,
                      const char *const *words, const char *expected,
                      size_t *ret)
{
    bool scalar = node->kind == BIDE__SCALAR;

    for (size_t i = 0; words[i]; i++)
        if (bide__node_is(node, words[i])) {
            *ret = i;
            return true;
        }
    bide__wrong_rule(
        m, node, scalar ? "bad-value" : "wrong-type",
        scalar ? bide__did_you_mean(m->load->notes, node->text, words) : NULL,
        expected);
    return false;
}

bool bide__read_fault(struct bide__making *m, const struct bide__node *node,
                      uint32_t *set)
{
    const char *words[BIDE_N_FAULTS + 1] = { NULL };
    bide_fault faults[BIDE_N_FAULTS];
    size_t n = 0, i;

    for (bide_fault f = BIDE_FAULT_NONE + 1; f < BIDE_N_FAULTS; f++)
        if (!(BIDE__NO_SERVERS_FAULTS >> f & 1)) {
            faults[n] = f;
            words[n++] = bide_fault_name(f);
        }
    if (!read_word(m, node, words,
                   "an error such as `connect`, `reset`, `timeout` or `dns`",
                   &i))
        return false;
    *set |= SET(faults[i]);
    return true;
}

bool bide__read_grpc(struct bide__making *m, const struct bide__node *node,
                     uint32_t *set)
{
#define X(name, value, key) key,
    static const char *const all[] = { BIDE_GRPC_CODES(X) NULL };
#undef X
    size_t i;

    if (!read_word(m, node, all + 1, "a gRPC code such as `UNAVAILABLE`", &i))
        return false; /* the first, `OK`, is no failure */
    *set |= SET(i + 1);
    return true;
}

/* A list, or one value that stands for a list of it. */
size_t bide__members(struct bide__node *const *node,
                     struct bide__node *const **ret)
{
    bool list = (*node)->kind == BIDE__LIST;

    *ret = list ? (*node)->items : node;
    return list ? (*node)->n : 1;
}

bool bide__read_class(struct bide__making *m, const struct bide__node *node,
                      bide_class *ret)
{
#define X(name, key, meaning) key,
    static const char *const all[] = { BIDE_CLASSES(X) NULL };
#undef X
    size_t i;

    if (!read_word(m, node, all, "a class", &i))
        return false;
    *ret = (bide_class)i;
    return true;
}

bool bide__read_text(struct bide__making *m, const struct bide__node *node,
                     const char **ret)
{
    if (node->kind != BIDE__SCALAR || bide__node_empty(node) ||
        node->len == 0 || memchr(node->text, '\0', node->len)) {
        bide__wrong_rule(m, node, "wrong-type", NULL, "text");
        return false;
    }
    if (node->len > BIDE_MAX_RULE_TEXT) {
        bide__mistake(m->load, node, "out-of-range", NULL,
                      "the text of a rule has at most %d bytes",
                      BIDE_MAX_RULE_TEXT);
        return false;
    }
    *ret = node->text;
    return true;
}

void bide__wrong_status(struct bide__making *m, const struct bide__node *node)
{
    bide__wrong_rule(
        m, node, node->kind == BIDE__SCALAR ? "bad-value" : "wrong-type", NULL,
        "a status from 100 to 999, or a range such as `500-599`");
}
