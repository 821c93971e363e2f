/* option_value.c: the table of options put to use on text.
 *
 * The type of an option says how its text reads and how wide its field is; this
 * is the only place that knows both. */
#include "config/field/option_value.h"

#include <stdio.h>
#include <string.h>

#include "config/field/value.h"

const bide_option *bide__option_find(const char *key, size_t len)
{
    size_t n;
    const bide_option *options = bide_policy_options(&n);

    for (size_t i = 0; i < n; i++)
        if (strncmp(options[i].key, key, len) == 0 && !options[i].key[len])
            return &options[i];
    return NULL;
}

size_t bide__option_index(const bide_option *o)
{
    return (size_t)(o - bide_policy_options(NULL));
}

static size_t field_size(const bide_option *o)
{
    switch (o->type) {
    case BIDE_OPTION_DURATION:
        return sizeof(int64_t);
    case BIDE_OPTION_COUNT:
        return sizeof(uint32_t);
    case BIDE_OPTION_FLAG:
        return sizeof(bool);
    case BIDE_OPTION_CHOICE:
        return sizeof(int);
    default:
        return sizeof(double);
    }
}

void bide__option_copy(bide_policy_conf *to, const bide_policy_conf *from,
                       const bide_option *o)
{
    memcpy((char *)to + o->offset, (const char *)from + o->offset,
           field_size(o));
}

bool bide__option_same(const bide_policy_conf *a, const bide_policy_conf *b,
                       const bide_option *o)
{
    return memcmp((const char *)a + o->offset, (const char *)b + o->offset,
                  field_size(o)) == 0;
}

static void put(void *conf, const bide_option *o, const void *value)
{
    memcpy((char *)conf + o->offset, value, field_size(o));
}

static bool is_text(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && memcmp(text, word, len) == 0;
}

static bool within(const bide_option *o, double x)
{
    return (o->above_min ? x > o->min : x >= o->min) && x <= o->max;
}

/* A number with a sign is a value out of bounds, not a riddle. */
static bool is_negative(const char *text, size_t len)
{
    return len > 1 && text[0] == '-' && text[1] >= '0' && text[1] <= '9';
}

/* ===== one type each ===== */

static enum bide__set set_duration(void *conf, const bide_option *o,
                                   const char *text, size_t len)
{
    double number;
    int64_t ns;

    if (o->special && is_text(text, len, o->special)) {
        put(conf, o, &o->special_value);
        return BIDE__SET_OK;
    }
    if (bide_parse_duration(text, len, &ns) < 0)
        return bide__parse_number(text, len, &number) == 0
                   ? BIDE__SET_UNITLESS
                   : BIDE__SET_MALFORMED;
    if (ns == BIDE_FOREVER || !within(o, (double)ns))
        return BIDE__SET_RANGE;
    put(conf, o, &ns);
    return BIDE__SET_OK;
}

static enum bide__set set_count(void *conf, const bide_option *o,
                                const char *text, size_t len)
{
    uint64_t value;
    uint32_t count;

    if (o->special && is_text(text, len, o->special)) {
        count = (uint32_t)o->special_value;
        put(conf, o, &count);
        return BIDE__SET_OK;
    }
    if (bide__parse_count(text, len, &value) < 0)
        return BIDE__SET_MALFORMED;
    if (!within(o, (double)value))
        return BIDE__SET_RANGE;
    count = (uint32_t)value;
    put(conf, o, &count);
    return BIDE__SET_OK;
}

static enum bide__set set_number(void *conf, const bide_option *o,
                                 const char *text, size_t len)
{
    double value = (double)o->special_value;
    int rc;

    if (o->special && is_text(text, len, o->special)) {
        put(conf, o, &value);
        return BIDE__SET_OK;
    }
    rc = o->type == BIDE_OPTION_RATIO  ? bide_parse_ratio(text, len, &value)
         : o->type == BIDE_OPTION_RATE ? bide_parse_rate(text, len, &value)
                                       : bide__parse_number(text, len, &value);
    if (rc < 0)
        return o->type == BIDE_OPTION_RATE &&
                       bide__parse_number(text, len, &value) == 0
                   ? BIDE__SET_UNITLESS
                   : BIDE__SET_MALFORMED;
    if (!within(o, value))
        return BIDE__SET_RANGE;
    put(conf, o, &value);
    return BIDE__SET_OK;
}

static enum bide__set set_flag(void *conf, const bide_option *o,
                               const char *text, size_t len)
{
    bool flag = is_text(text, len, "true");

    if (!flag && !is_text(text, len, "false"))
        return BIDE__SET_MALFORMED;
    put(conf, o, &flag);
    return BIDE__SET_OK;
}

static enum bide__set set_choice(void *conf, const bide_option *o,
                                 const char *text, size_t len)
{
    for (int i = 0; o->choices[i]; i++)
        if (is_text(text, len, o->choices[i])) {
            put(conf, o, &i);
            return BIDE__SET_OK;
        }
    return BIDE__SET_MALFORMED;
}

enum bide__set bide__set(void *conf, const bide_option *o, const char *text,
                         size_t len)
{
    switch (o->type) {
    case BIDE_OPTION_FLAG:
        return set_flag(conf, o, text, len);
    case BIDE_OPTION_CHOICE:
        return set_choice(conf, o, text, len);
    default:
        break;
    }
    if (is_negative(text, len))
        return BIDE__SET_RANGE;
    if (o->type == BIDE_OPTION_DURATION)
        return set_duration(conf, o, text, len);
    if (o->type == BIDE_OPTION_COUNT)
        return set_count(conf, o, text, len);
    return set_number(conf, o, text, len);
}

/* ===== by name ===== */

double bide__parse_percentile(const char *text, size_t len)
{
    double value;

    if (len < 2 || text[0] != 'p' ||
        bide__parse_percent(text + 1, len - 1, &value) < 0)
        return -1;
    return value;
}

/* "p95" sets two options. */
static int set_hedge_after(bide_policy_conf *conf, const char *text, size_t len)
{
    double quantile = bide__parse_percentile(text, len);

    if (!(quantile >= 0.5 && quantile <= 0.999))
        return BIDE_EPARSE;
    conf->hedge.after_ns = BIDE_FOREVER;
    conf->hedge.quantile = quantile;
    return 0;
}

int bide__option_set(bide_policy_conf *conf, const char *key, const char *text,
                     size_t len)
{
    const bide_option *o = bide__option_find(key, strlen(key));

    if (!o)
        return BIDE_ENAME;
    if (strcmp(key, "hedge.after") == 0 && len > 0 && text[0] == 'p')
        return set_hedge_after(conf, text, len);
    return bide__set(conf, o, text, len) == BIDE__SET_OK ? 0 : BIDE_EPARSE;
}

/* ===== as text ===== */

static const char *duration_text(const void *field, const bide_option *o,
                                 char *buffer, size_t size)
{
    int64_t ns;

    memcpy(&ns, field, sizeof ns);
    if (o->special && ns == o->special_value)
        return o->special;
    return bide_format_duration(ns, buffer, size);
}

static const char *count_text(const void *field, const bide_option *o,
                              char *buffer, size_t size)
{
    uint32_t count;

    memcpy(&count, field, sizeof count);
    if (o->special && count == o->special_value)
        return o->special;
    snprintf(buffer, size, "%lu", (unsigned long)count);
    return buffer;
}

static const char *number_text(const void *field, const bide_option *o,
                               char *buffer, size_t size)
{
    double number;

    memcpy(&number, field, sizeof number);
    if (o->special && !(number > (double)o->special_value) &&
        !(number < (double)o->special_value))
        return o->special;
    if (o->type == BIDE_OPTION_RATIO)
        return bide__format_ratio(number, buffer, size);
    if (o->type == BIDE_OPTION_RATE)
        return bide__format_rate(number, buffer, size);
    return bide__format_number(number, buffer, size);
}

const char *bide__option_text(const void *conf, const bide_option *option,
                              char *buffer, size_t size)
{
    const char *field = (const char *)conf + option->offset;
    int choice;
    bool flag;

    switch (option->type) {
    case BIDE_OPTION_DURATION:
        return duration_text(field, option, buffer, size);
    case BIDE_OPTION_COUNT:
        return count_text(field, option, buffer, size);
    case BIDE_OPTION_FLAG:
        memcpy(&flag, field, sizeof flag);
        return flag ? "true" : "false";
    case BIDE_OPTION_CHOICE:
        memcpy(&choice, field, sizeof choice);
        return option->choices[choice];
    default:
        return number_text(field, option, buffer, size);
    }
}
