/* values.c: one value of a scenario, by the row of its table. The
 * values are written as in policy files, and read by the same functions. */
#include <string.h>

#include "config/field/value.h"
#include "sim/scenario/load.h"

enum outcome { FITS, MALFORMED, UNITLESS, OUT_OF_RANGE };

/* ===== what is wrong with it ===== */

void sim_wrong(struct sim_load *l, const struct bide__node *key,
               const struct bide__node *node, const char *expected,
               const char *help)
{
    bool empty = bide__node_empty(node);

    sim_mistake(l, empty ? key : node,
                empty || node->kind != BIDE__SCALAR ? "wrong-type"
                                                    : "bad-value",
                help, "`%s`: expected %s; found %s", key->text, expected,
                bide__node_found(l->base.tree, node));
}

static const char *unit_help(struct sim_load *l, const struct sim_field *f,
                             const struct bide__node *node)
{
    const char *text = node->text;

    return f->kind == SIM_FIELD_RATE
               ? bide__diag_text(l->base.notes, "write `%s/s` or `%s/m`", text,
                                 text)
               : bide__diag_text(l->base.notes, "write `%sms` or `%ss`", text,
                                 text);
}

static const char *value_help(struct sim_load *l, const struct sim_field *f,
                              const struct bide__node *node)
{
    switch (f->kind) {
    case SIM_FIELD_SPAN:
        return "a duration is a number and a unit (ns, us, ms, s, m, h, d), "
               "as in `250ms` or `1m30s`";
    case SIM_FIELD_SHARE:
        return "a ratio is written `10%` or `0.1`";
    case SIM_FIELD_RATE:
        return "a rate is a number and a unit, as in `10/s` or `30/m`";
    case SIM_FIELD_FLAG:
        return "write `true` or `false`";
    case SIM_FIELD_WORD:
    case SIM_FIELD_EITHER:
        return bide__did_you_mean(l->base.notes, node->text, f->words);
    default:
        return NULL;
    }
}

static void refuse(struct sim_load *l, const struct sim_field *f,
                   const struct bide__node *node, enum outcome why)
{
    const char *found = bide__node_found(l->base.tree, node);

    if (why == UNITLESS)
        sim_mistake(l, node, "missing-unit", unit_help(l, f, node),
                    "a %s needs a unit: `%s` is given %s",
                    f->kind == SIM_FIELD_RATE ? "rate" : "duration", f->key,
                    found);
    else if (why == OUT_OF_RANGE)
        sim_mistake(l, node, "out-of-range", NULL,
                    "%s is out of range: `%s` takes %s", found, f->key,
                    f->expects);
    else
        sim_mistake(l, node, "bad-value", value_help(l, f, node),
                    "`%s`: expected %s; found %s", f->key, f->expects, found);
}

/* ===== numbers ===== */

static enum outcome unit_missing(const struct bide__node *node)
{
    double number;

    return bide__parse_number(node->text, node->len, &number) == 0 ? UNITLESS
                                                                   : MALFORMED;
}

static enum outcome keep(const struct sim_field *f, void *into, double value)
{
    char *at = (char *)into + f->offset;

    if (!(value >= f->min && value <= f->max) &&
        !(f->word && value == f->word_value))
        return OUT_OF_RANGE;
    if (f->kind == SIM_FIELD_COUNT) {
        uint32_t count = (uint32_t)value;
        memcpy(at, &count, sizeof count);
    } else {
        memcpy(at, &value, sizeof value);
    }
    return FITS;
}

static enum outcome set_span(const struct sim_field *f, void *into,
                             const struct bide__node *node)
{
    int64_t ns;

    if (bide_parse_duration(node->text, node->len, &ns) < 0)
        return unit_missing(node);
    if ((double)ns < f->min || (double)ns > f->max)
        return OUT_OF_RANGE;
    memcpy((char *)into + f->offset, &ns, sizeof ns);
    return FITS;
}

static enum outcome set_count(const struct sim_field *f, void *into,
                              const struct bide__node *node)
{
    uint64_t count;

    if (bide__parse_count(node->text, node->len, &count) < 0)
        return MALFORMED;
    if (f->kind == SIM_FIELD_COUNT)
        return count > UINT32_MAX ? OUT_OF_RANGE : keep(f, into, (double)count);
    if ((double)count < f->min || (count == UINT64_MAX && node->len > 20))
        return OUT_OF_RANGE;
    memcpy((char *)into + f->offset, &count, sizeof count);
    return FITS;
}

static enum outcome set_number(const struct sim_field *f, void *into,
                               const struct bide__node *node)
{
    double value;

    if (f->kind == SIM_FIELD_RATE) {
        if (bide_parse_rate(node->text, node->len, &value) < 0)
            return unit_missing(node);
    } else if (f->kind == SIM_FIELD_SHARE) {
        if (bide_parse_ratio(node->text, node->len, &value) < 0)
            return MALFORMED;
    } else if (bide__parse_number(node->text, node->len, &value) < 0) {
        return MALFORMED;
    }
    return keep(f, into, value);
}

/* ===== words ===== */

static enum outcome set_flag(const struct sim_field *f, void *into,
                             const struct bide__node *node)
{
    bool flag = bide__node_is(node, "true");

    if (!flag && !bide__node_is(node, "false"))
        return MALFORMED;
    memcpy((char *)into + f->offset, &flag, sizeof flag);
    return FITS;
}

static enum outcome set_choice(const struct sim_field *f, void *into,
                               const struct bide__node *node)
{
    int i = 0;
    bool second;

    while (f->words[i] && !bide__node_is(node, f->words[i]))
        i++;
    if (!f->words[i])
        return MALFORMED;
    second = i == 1;
    if (f->kind == SIM_FIELD_WORD)
        memcpy((char *)into + f->offset, &i, sizeof i);
    else
        memcpy((char *)into + f->offset, &second, sizeof second);
    return FITS;
}

/* The word that stands for a value outside the range: `unbounded`. */
static void set_word(const struct sim_field *f, void *into)
{
    int64_t ns = (int64_t)f->word_value;

    if (f->kind == SIM_FIELD_SPAN)
        memcpy((char *)into + f->offset, &ns, sizeof ns);
    else
        keep(f, into, f->word_value);
}

/* A text without the blanks behind it, which a block of YAML ends with. */
static enum outcome set_text(struct sim_load *l, const struct sim_field *f,
                             void *into, const struct bide__node *node)
{
    size_t len = node->len;
    char *copy;

    if (memchr(node->text, '\0', node->len))
        return MALFORMED;
    while (len > 0 && strchr(" \n", node->text[len - 1]))
        len--;
    copy = bide__arena_copy(l->base.tree->arena, node->text, len);
    if (!copy)
        l->base.no_memory = true;
    memcpy((char *)into + f->offset, &copy, sizeof copy);
    return FITS;
}

/* ===== all of them ===== */

static bool is_bare(enum sim_field_kind kind)
{
    return kind == SIM_FIELD_NUMBER || kind == SIM_FIELD_COUNT ||
           kind == SIM_FIELD_LARGE || kind == SIM_FIELD_FLAG;
}

static bool is_scalar_for(struct sim_load *l, const struct sim_field *f,
                          const struct bide__node *key,
                          const struct bide__node *node)
{
    bool bare = is_bare(f->kind);

    if (node->kind == BIDE__SCALAR && !bide__node_empty(node) &&
        !(bare && node->quoted && !(f->word && bide__node_is(node, f->word))))
        return true;
    sim_mistake(l, bide__node_empty(node) ? key : node, "wrong-type",
                bare && node->quoted ? "take away the quotes" : NULL,
                "`%s`: expected %s; found %s", f->key, f->expects,
                bide__node_found(l->base.tree, node));
    return false;
}

static enum outcome set(struct sim_load *l, const struct sim_field *f,
                        void *into, const struct bide__node *node)
{
    switch (f->kind) {
    case SIM_FIELD_TEXT:
        return set_text(l, f, into, node);
    case SIM_FIELD_SPAN:
        return set_span(f, into, node);
    case SIM_FIELD_COUNT:
    case SIM_FIELD_LARGE:
        return set_count(f, into, node);
    case SIM_FIELD_FLAG:
        return set_flag(f, into, node);
    case SIM_FIELD_WORD:
    case SIM_FIELD_EITHER:
        return set_choice(f, into, node);
    default:
        return set_number(f, into, node);
    }
}

bool sim_read_scalar(struct sim_load *l, const struct sim_field *field,
                     void *into, const struct bide__node *key,
                     const struct bide__node *node)
{
    enum outcome outcome;

    if (!is_scalar_for(l, field, key, node))
        return false;
    if (field->word && bide__node_is(node, field->word)) {
        set_word(field, into);
        return true;
    }
    outcome = set(l, field, into, node);
    if (outcome != FITS)
        refuse(l, field, node, outcome);
    return outcome == FITS;
}
