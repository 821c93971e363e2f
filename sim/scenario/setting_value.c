/* Sets one field of a model from text: finds its row in the table, reads the
 * value, checks its range, stores it. */
#include "sim/scenario/setting_value.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct sim_field *sim_field_find(const struct sim_field *fields,
                                       const char *path)
{
    size_t len = strcspn(path, ".");

    for (; fields && fields->key; fields++) {
        if (strlen(fields->key) != len || memcmp(fields->key, path, len) != 0)
            continue;
        if (fields->kind == SIM_FIELD_GROUP)
            return path[len] ? sim_field_find(fields->fields, path + len + 1)
                             : NULL;
        return path[len] ? NULL : fields;
    }
    return NULL;
}

bool sim_field_settable(const struct sim_field *field)
{
    switch (field->kind) {
    case SIM_FIELD_SPAN:
    case SIM_FIELD_RATE:
    case SIM_FIELD_SHARE:
    case SIM_FIELD_NUMBER:
    case SIM_FIELD_COUNT:
    case SIM_FIELD_LARGE:
    case SIM_FIELD_FLAG:
    case SIM_FIELD_DIST:
        return true;
    case SIM_FIELD_WORD:
        return field->offset != 0; /* others are flags under another name */
    default:
        return false;
    }
}

/* ===== numbers ===== */

static bool read_plain(const char *text, double *ret)
{
    char *end;

    if ((*text < '0' || *text > '9') && *text != '.')
        return false;
    errno = 0;
    *ret = strtod(text, &end);
    return !*end && !errno && isfinite(*ret);
}

static bool read_number(const struct sim_field *f, const char *text,
                        double *ret)
{
    size_t len = strlen(text);
    int64_t ns;

    if (f->word && strcmp(f->word, text) == 0) {
        *ret = f->word_value;
        return true;
    }
    switch (f->kind) {
    case SIM_FIELD_SPAN:
    case SIM_FIELD_DIST:
        if (bide_parse_duration(text, len, &ns) < 0)
            return false;
        *ret = (double)ns;
        break;
    case SIM_FIELD_RATE:
        if (bide_parse_rate(text, len, ret) < 0)
            return false;
        break;
    case SIM_FIELD_SHARE:
        if (bide_parse_ratio(text, len, ret) < 0)
            return false;
        break;
    default:
        if (!read_plain(text, ret))
            return false;
    }
    return *ret >= f->min && (f->max <= f->min || *ret <= f->max);
}

/* Stretches a distribution so that what it is named by becomes `ns`. */
static bool stretch(struct sim_dist *d, double ns)
{
    if (d->kind == SIM_MIXTURE || d->kind == SIM_EMPIRICAL)
        return false;
    if (d->kind == SIM_NORMAL && d->at_ns > 0)
        d->spread *= ns / d->at_ns;
    d->at_ns = ns;
    return true;
}

/* ===== storing ===== */

static bool store(const struct sim_field *f, char *at, double x)
{
    uint32_t count = (uint32_t)x;
    uint64_t large = (uint64_t)x;
    int64_t ns = (int64_t)x;
    struct sim_dist dist;

    switch (f->kind) {
    case SIM_FIELD_SPAN:
        memcpy(at, &ns, sizeof ns);
        return true;
    case SIM_FIELD_COUNT:
        memcpy(at, &count, sizeof count);
        return (double)count == x;
    case SIM_FIELD_LARGE:
        memcpy(at, &large, sizeof large);
        return (double)large == x;
    case SIM_FIELD_DIST:
        memcpy(&dist, at, sizeof dist);
        if (!stretch(&dist, x))
            return false;
        memcpy(at, &dist, sizeof dist);
        return true;
    default:
        memcpy(at, &x, sizeof x);
        return true;
    }
}

static bool store_flag(char *at, const char *text)
{
    bool on = strcmp(text, "true") == 0;

    memcpy(at, &on, sizeof on);
    return on || strcmp(text, "false") == 0;
}

static bool store_word(const struct sim_field *f, char *at, const char *text)
{
    for (int i = 0; f->words[i]; i++) {
        if (strcmp(f->words[i], text) == 0) {
            memcpy(at, &i, sizeof i); /* enums are ints here */
            return true;
        }
    }
    return false;
}

static const char *expected_of(const struct sim_field *f)
{
    return f->kind == SIM_FIELD_DIST
               ? "a duration, where the scenario has no mixture or histogram"
               : f->expects;
}

enum sim_set sim_field_set(const struct sim_field *f, void *into,
                           const char *text, const char **ret_expected)
{
    char *at = (char *)into + f->offset;
    double x;
    bool ok;

    if (f->kind == SIM_FIELD_FLAG)
        ok = store_flag(at, text);
    else if (f->kind == SIM_FIELD_WORD)
        ok = store_word(f, at, text);
    else
        ok = read_number(f, text, &x) && store(f, at, x);
    if (!ok)
        *ret_expected = expected_of(f);
    return ok ? SIM_SET_OK : SIM_SET_WRONG;
}
