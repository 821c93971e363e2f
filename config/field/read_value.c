/* read_value.c: reads one scalar value by its row; if that fails, says what
 * would be valid. */
#include <string.h>

#include "config/doc/diag.h"
#include "config/field/read.h"
#include "config/field/text.h"

static const char *unit_help(struct bide__load *load,
                             const struct bide__field *f,
                             const struct bide__node *node)
{
    const char *text = node->text;

    return f->type == BIDE_OPTION_RATE
               ? bide__diag_text(load->notes, "write `%s/s` or `%s/m`", text,
                                 text)
               : bide__diag_text(load->notes, "write `%sms` or `%ss`", text,
                                 text);
}

static const char *value_help(struct bide__load *load,
                              const struct bide__field *f,
                              const struct bide__node *node)
{
    switch (f->type) {
    case BIDE_OPTION_DELAYS:
        return "write `[1s, 5s, 30s]`; each duration has a unit (ns, us, ms, s, "
               "m, h, d)";
    case BIDE_OPTION_DURATION:
        return "a duration is a number and a unit (ns, us, ms, s, m, h, d), "
               "as in `250ms` or `1m30s`";
    case BIDE_OPTION_RATIO:
        return "a ratio is written `10%` or `0.1`";
    case BIDE_OPTION_RATE:
        return "a rate is a number and a unit, as in `10/s` or `30/m`";
    case BIDE_OPTION_FLAG:
        return "write `true` or `false`";
    case BIDE_OPTION_CHOICE:
    case BIDE__EITHER:
        return bide__did_you_mean(load->notes, node->text, f->choices);
    case BIDE__SIZE:
        return "a size is a number of bytes, as in `65536` or `64KiB`";
    default:
        return NULL;
    }
}

static void refuse(struct bide__load *load, const struct bide__field *f,
                   const struct bide__node *node, enum bide__set why)
{
    const char *found = bide__node_found(load->tree, node);

    if (why == BIDE__SET_UNITLESS)
        bide__mistake(load, node, "missing-unit", unit_help(load, f, node),
                      "a %s needs a unit: `%s` is given %s",
                      f->type == BIDE_OPTION_RATE ? "rate" : "duration", f->key,
                      found);
    else if (why == BIDE__SET_RANGE)
        bide__mistake(load, node, "out-of-range", NULL,
                      "%s is out of range: `%s` takes %s", found, f->key,
                      f->expects);
    else
        bide__mistake(load, node, "bad-value", value_help(load, f, node),
                      "`%s`: expected %s; found %s", f->key, f->expects, found);
}

/* In JSON, durations, ratios and rates must be quoted; numbers need not. */
static bool is_scalar_for(struct bide__load *load, const struct bide__field *f,
                          const struct bide__node *key,
                          const struct bide__node *node)
{
    bool bare = f->type == BIDE_OPTION_NUMBER || f->type == BIDE_OPTION_COUNT ||
                f->type == BIDE_OPTION_FLAG || f->type == BIDE__LARGE;
    const char *help = f->type == BIDE__SIZE    ? value_help(load, f, node)
                       : bare && node->quoted   ? "take away the quotes"
                                                : NULL;

    if (node->kind == BIDE__SCALAR && !bide__node_empty(node) &&
        !(bare && node->quoted &&
          !(f->special && bide__node_is(node, f->special))))
        return true;
    bide__mistake(load, bide__node_empty(node) ? key : node, "wrong-type", help,
                  "`%s`: expected %s; found %s", f->key, f->expects,
                  bide__node_found(load->tree, node));
    return false;
}

/* Each duration of a list is refused by itself, where it stands. */
static bool read_delays(struct bide__load *load, const struct bide__field *f,
                        const struct bide__node *list, void *to)
{
    bide_delays delays = { 0, { 0 } };
    bool good = true;

    for (size_t i = 0; i < list->n && good; i++) {
        const struct bide__node *item = list->items[i];
        bool scalar = item->kind == BIDE__SCALAR && !bide__node_empty(item);
        enum bide__set set =
            scalar ? bide__delays_add(&delays, item->text, item->len)
                   : BIDE__SET_MALFORMED;

        if (set != BIDE__SET_OK)
            refuse(load, f, item, set);
        good = set == BIDE__SET_OK;
    }
    if (good && delays.n == 0)
        refuse(load, f, list, BIDE__SET_MALFORMED);
    else if (good)
        memcpy((char *)to + f->offset, &delays, sizeof delays);
    return good && delays.n > 0;
}

bool bide__read_value(struct bide__load *load, const struct bide__field *f,
                      const struct bide__node *key,
                      const struct bide__node *node, void *to)
{
    enum bide__set outcome;

    if (f->type == BIDE_OPTION_DELAYS && node->kind == BIDE__LIST)
        return read_delays(load, f, node, to);
    if (!is_scalar_for(load, f, key, node))
        return false;
    outcome = bide__field_set(f, to, node->text, node->len);
    if (outcome != BIDE__SET_OK)
        refuse(load, f, node, outcome);
    return outcome == BIDE__SET_OK;
}
