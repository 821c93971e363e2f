/* text.c: sets a field from text and writes it as text.
 *
 * The type of a row determines the format of its text and the size of its
 * value; only this file and same.c depend on both. */
#include "config/field/text.h"

#include <stdio.h>
#include <string.h>

#include "config/field/size.h"
#include "config/field/value.h"

static bool is_text(const char *text, size_t len, const char *word)
{
    return word && strlen(word) == len && memcmp(text, word, len) == 0;
}

static bool within(const struct bide__field *f, double x)
{
    return (f->above_min ? x > f->min : x >= f->min) && x <= f->max;
}

/* A number with a minus sign is out of bounds, not unreadable. */
static bool is_negative(const char *text, size_t len)
{
    return len > 1 && text[0] == '-' && text[1] >= '0' && text[1] <= '9';
}

static enum bide__set put(void *at, const void *value, size_t size)
{
    memcpy(at, value, size);
    return BIDE__SET_OK;
}

static enum bide__set without_unit(const char *text, size_t len)
{
    double number;

    return bide__parse_number(text, len, &number) == 0 ? BIDE__SET_UNITLESS
                                                       : BIDE__SET_MALFORMED;
}

/* ===== one type each ===== */

static enum bide__set set_duration(const struct bide__field *f, void *at,
                                   const char *text, size_t len)
{
    int64_t ns = f->special_value;

    if (is_text(text, len, f->special))
        return put(at, &ns, sizeof ns);
    if (bide_parse_duration(text, len, &ns) < 0)
        return without_unit(text, len);
    if (ns == BIDE_FOREVER || !within(f, (double)ns))
        return BIDE__SET_RANGE;
    return put(at, &ns, sizeof ns);
}

static enum bide__set set_count(const struct bide__field *f, void *at,
                                const char *text, size_t len)
{
    uint64_t value = (uint64_t)f->special_value;
    uint32_t count = (uint32_t)value;

    if (is_text(text, len, f->special))
        return put(at, &count, sizeof count);
    if (bide__parse_count(text, len, &value) < 0)
        return BIDE__SET_MALFORMED;
    if (!within(f, (double)value) || (value == UINT64_MAX && len > 20))
        return BIDE__SET_RANGE;
    count = (uint32_t)value;
    return f->type == BIDE__LARGE ? put(at, &value, sizeof value)
                                  : put(at, &count, sizeof count);
}

static enum bide__set set_size(const struct bide__field *f, void *at,
                               const char *text, size_t len)
{
    uint64_t bytes = UINT64_MAX;
    uint32_t narrow;

    if (is_text(text, len, f->special))
        return put(at, &bytes, sizeof bytes);
    if (bide__parse_size(text, len, &bytes) < 0)
        return BIDE__SET_MALFORMED;
    if (!within(f, (double)bytes))
        return BIDE__SET_RANGE;
    narrow = (uint32_t)bytes;
    return f->special ? put(at, &bytes, sizeof bytes)
                      : put(at, &narrow, sizeof narrow);
}

static enum bide__set set_number(const struct bide__field *f, void *at,
                                 const char *text, size_t len)
{
    double value = (double)f->special_value;
    int rc;

    if (is_text(text, len, f->special))
        return put(at, &value, sizeof value);
    rc = f->type == BIDE_OPTION_RATIO  ? bide_parse_ratio(text, len, &value)
         : f->type == BIDE_OPTION_RATE ? bide_parse_rate(text, len, &value)
                                       : bide__parse_number(text, len, &value);
    if (rc < 0)
        return f->type == BIDE_OPTION_RATE ? without_unit(text, len)
                                           : BIDE__SET_MALFORMED;
    if (!within(f, value))
        return BIDE__SET_RANGE;
    return put(at, &value, sizeof value);
}

enum bide__set bide__delays_add(bide_delays *delays, const char *text,
                                size_t len)
{
    int64_t ns;

    if (is_negative(text, len))
        return BIDE__SET_RANGE;
    if (bide_parse_duration(text, len, &ns) < 0)
        return without_unit(text, len);
    if (ns == BIDE_FOREVER || delays->n == BIDE_MAX_DELAYS)
        return BIDE__SET_RANGE;
    delays->ns[delays->n++] = ns;
    return BIDE__SET_OK;
}

/* "none", or "1s, 5s, 30s", with or without the brackets of a list. */
static enum bide__set set_delays(void *at, const char *text, size_t len)
{
    bide_delays delays = { 0, { 0 } };
    enum bide__set set = BIDE__SET_OK;

    if (is_text(text, len, "none"))
        return put(at, &delays, sizeof delays);
    if (len > 1 && text[0] == '[' && text[len - 1] == ']') {
        text++;
        len -= 2;
    }
    for (const char *end = text + len; set == BIDE__SET_OK; text++) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        const char *stop = comma ? comma : end;
        size_t n;

        while (text < stop && *text == ' ')
            text++;
        for (n = (size_t)(stop - text); n > 0 && text[n - 1] == ' ';)
            n--;
        set = bide__delays_add(&delays, text, n);
        if (!comma)
            break;
        text = comma;
    }
    return set == BIDE__SET_OK ? put(at, &delays, sizeof delays) : set;
}

static enum bide__set set_flag(void *at, const char *text, size_t len)
{
    bool flag = is_text(text, len, "true");

    if (!flag && !is_text(text, len, "false"))
        return BIDE__SET_MALFORMED;
    return put(at, &flag, sizeof flag);
}

static enum bide__set set_choice(const struct bide__field *f, void *at,
                                 const char *text, size_t len)
{
    for (int i = 0; f->choices[i]; i++) {
        bool second = i == 1;

        if (is_text(text, len, f->choices[i]))
            return f->type == BIDE__EITHER ? put(at, &second, sizeof second)
                                           : put(at, &i, sizeof i);
    }
    return BIDE__SET_MALFORMED;
}

enum bide__set bide__field_set(const struct bide__field *f, void *to,
                               const char *text, size_t len)
{
    char *at = (char *)to + f->offset;

    if (f->set)
        return f->set(f, to, text, len) ? BIDE__SET_OK : BIDE__SET_MALFORMED;
    if (f->type == BIDE_OPTION_FLAG)
        return set_flag(at, text, len);
    if (f->type == BIDE_OPTION_CHOICE || f->type == BIDE__EITHER)
        return set_choice(f, at, text, len);
    if (f->type == BIDE_OPTION_DELAYS)
        return set_delays(at, text, len);
    if (f->type == BIDE__SIZE)
        return set_size(f, at, text, len);
    if (f->type > BIDE__SIZE)
        return BIDE__SET_MALFORMED;
    if (is_negative(text, len))
        return BIDE__SET_RANGE;
    if (f->type == BIDE_OPTION_DURATION)
        return set_duration(f, at, text, len);
    if (f->type == BIDE_OPTION_COUNT || f->type == BIDE__LARGE)
        return set_count(f, at, text, len);
    return set_number(f, at, text, len);
}

/* ===== by its path ===== */

bool bide__field_settable(const struct bide__field *f)
{
    return f->set || (f->type <= BIDE__SIZE && f->type != BIDE__EITHER);
}

const struct bide__field *bide__field_find(const struct bide__table *table,
                                           const char *path, size_t *ret_base)
{
    size_t len = strcspn(path, ".");
    const struct bide__field *found;

    for (const struct bide__field *f = table->fields; f->key; f++) {
        if (!is_text(path, len, f->key))
            continue;
        *ret_base = 0;
        if (!path[len])
            return f;
        if (f->type != BIDE__FIELDS)
            return NULL;
        found = bide__field_find(f->table, path + len + 1, ret_base);
        *ret_base += f->offset;
        return found;
    }
    return NULL;
}

/* ===== as text ===== */

static const char *duration_text(const struct bide__field *f, const void *at,
                                 char *buffer, size_t size)
{
    int64_t ns;

    memcpy(&ns, at, sizeof ns);
    if (f->special && ns == f->special_value)
        return f->special;
    return bide_format_duration(ns, buffer, size);
}

static const char *count_text(const struct bide__field *f, const void *at,
                              char *buffer, size_t size)
{
    uint32_t count;
    uint64_t large;

    if (f->type == BIDE__LARGE) {
        memcpy(&large, at, sizeof large);
    } else {
        memcpy(&count, at, sizeof count);
        if (f->special && count == f->special_value)
            return f->special;
        large = count;
    }
    snprintf(buffer, size, "%llu", (unsigned long long)large);
    return buffer;
}

static const char *size_text(const struct bide__field *f, const void *at,
                             char *buffer, size_t size)
{
    uint64_t wide;
    uint32_t narrow;

    if (!f->special) {
        memcpy(&narrow, at, sizeof narrow);
        return bide__format_size(narrow, buffer, size);
    }
    memcpy(&wide, at, sizeof wide);
    return wide == UINT64_MAX ? f->special
                              : bide__format_size(wide, buffer, size);
}

static const char *number_text(const struct bide__field *f, const void *at,
                               char *buffer, size_t size)
{
    double number;

    memcpy(&number, at, sizeof number);
    if (f->special && !(number > (double)f->special_value) &&
        !(number < (double)f->special_value))
        return f->special;
    if (f->type == BIDE_OPTION_RATIO)
        return bide__format_ratio(number, buffer, size);
    if (f->type == BIDE_OPTION_RATE)
        return bide__format_rate(number, buffer, size);
    return bide__format_number(number, buffer, size);
}

static const char *delays_text(const void *at, char *buffer, size_t size)
{
    bide_delays delays;
    size_t len = 0;
    char one[40];

    memcpy(&delays, at, sizeof delays);
    if (delays.n == 0)
        return "none";
    for (uint32_t i = 0; i < delays.n && len < size; i++)
        len += (size_t)snprintf(
            buffer + len, size - len, "%s%s%s", i ? ", " : "[",
            bide_format_duration(delays.ns[i], one, sizeof one),
            i + 1 < delays.n ? "" : "]");
    return buffer;
}

const char *bide__field_text(const struct bide__field *f, const void *from,
                             char *buffer, size_t size)
{
    const char *at = (const char *)from + f->offset;
    int choice;
    bool flag;

    switch (f->type) {
    case BIDE_OPTION_DURATION:
        return duration_text(f, at, buffer, size);
    case BIDE_OPTION_COUNT:
    case BIDE__LARGE:
        return count_text(f, at, buffer, size);
    case BIDE_OPTION_FLAG:
        memcpy(&flag, at, sizeof flag);
        return flag ? "true" : "false";
    case BIDE_OPTION_CHOICE:
        memcpy(&choice, at, sizeof choice);
        return f->choices[choice];
    case BIDE_OPTION_DELAYS:
        return delays_text(at, buffer, size);
    case BIDE__EITHER:
        memcpy(&flag, at, sizeof flag);
        return f->choices[flag];
    case BIDE__SIZE:
        return size_text(f, at, buffer, size);
    default:
        return f->type < BIDE__SIZE ? number_text(f, at, buffer, size) : NULL;
    }
}
