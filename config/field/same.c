/* same.c: compares two structs by their table.
 *
 * The value of each row is reduced to bytes, which are equal if the values are.
 * So no key that has a row can be forgotten, and what is compared can be
 * hashed. */
#include "config/field/same.h"

#include <stdio.h>
#include <string.h>

/* The size of a row's value; 0: it is a text. */
static size_t width(const struct bide__field *f)
{
    switch (f->type) {
    case BIDE_OPTION_DURATION:
        return sizeof(int64_t);
    case BIDE_OPTION_COUNT:
        return sizeof(uint32_t);
    case BIDE_OPTION_RATIO:
    case BIDE_OPTION_NUMBER:
    case BIDE_OPTION_RATE:
        return sizeof(double);
    case BIDE_OPTION_FLAG:
    case BIDE__EITHER:
        return sizeof(bool);
    case BIDE_OPTION_CHOICE:
        return sizeof(int);
    case BIDE_OPTION_DELAYS:
        return sizeof(bide_delays);
    case BIDE__LARGE:
        return sizeof(uint64_t);
    case BIDE__SIZE:
        return f->special ? sizeof(uint64_t) : sizeof(uint32_t);
    default:
        return f->item ? 0 : f->size;
    }
}

static const char *pointer_at(const void *from, size_t offset)
{
    const char *pointer;

    memcpy(&pointer, (const char *)from + offset, sizeof pointer);
    return pointer;
}

static size_t number_at(const void *from, size_t offset)
{
    size_t n;

    memcpy(&n, (const char *)from + offset, sizeof n);
    return n;
}

/* The bytes of a value; NULL if there is no text. */
static const void *bytes_of(const struct bide__field *f, const void *from,
                            size_t *ret_len)
{
    const char *text;

    *ret_len = width(f);
    if (*ret_len > 0)
        return (const char *)from + f->offset;
    text = pointer_at(from, f->offset);
    if (text && f->item)
        text = pointer_at(text, 0); /* the first field of the members */
    *ret_len = text ? strlen(text) + 1 : 0;
    return text;
}

/* The distance between the members of a row; 0: it is not a list. */
static size_t stride(const struct bide__field *f)
{
    if (f->type == BIDE__TEXTS)
        return f->size;
    return f->type > BIDE__FIELDS ? f->table->size : 0;
}

/* A row for the text or name of a member of a list. */
static struct bide__field text_in(size_t offset)
{
    return (struct bide__field){ .type = BIDE__TEXT, .offset = offset };
}

void bide__field_copy(const struct bide__field *f, void *to, const void *from)
{
    memcpy((char *)to + f->offset, (const char *)from + f->offset, width(f));
}

/* ===== equality ===== */

static bool members_same(const struct bide__field *f, const void *a,
                         const void *b)
{
    size_t n = number_at(a, f->n_offset);
    const char *x = pointer_at(a, f->offset), *y = pointer_at(b, f->offset);
    struct bide__field text = text_in(f->table ? f->table->name_offset : 0);

    if (n != number_at(b, f->n_offset))
        return false;
    for (size_t i = 0; i < n; i++, x += stride(f), y += stride(f))
        if ((f->type != BIDE__LIST_OF && !bide__field_same(&text, x, y)) ||
            (f->table && !bide__fields_same(f->table, x, y)))
            return false;
    return true;
}

bool bide__field_same(const struct bide__field *f, const void *a, const void *b)
{
    size_t len, other;
    const void *x, *y;

    if (f->type == BIDE__FIELDS)
        return bide__fields_same(f->table, (const char *)a + f->offset,
                                 (const char *)b + f->offset);
    if (stride(f) > 0)
        return members_same(f, a, b);
    x = bytes_of(f, a, &len);
    y = bytes_of(f, b, &other);
    return len == other && (len == 0 || memcmp(x, y, len) == 0);
}

bool bide__fields_same(const struct bide__table *table, const void *a,
                       const void *b)
{
    for (const struct bide__field *f = table->fields; f->key; f++)
        if (!bide__field_same(f, a, b))
            return false;
    return true;
}

bool bide__fixed_differs(const struct bide__table *table, const void *a,
                         const void *b, char *path, size_t size)
{
    size_t len = strlen(path);

    for (const struct bide__field *f = table->fields; f->key; f++) {
        snprintf(path + len, size - len, ".%s", f->key);
        if (f->fixed && !bide__field_same(f, a, b))
            return true;
        if (f->type == BIDE__FIELDS &&
            bide__fixed_differs(f->table, (const char *)a + f->offset,
                                (const char *)b + f->offset, path, size))
            return true;
    }
    path[len] = '\0';
    return false;
}

/* ===== hashing ===== */

static uint64_t mix(uint64_t h, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < size; i++)
        h = (h ^ bytes[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
    return h;
}

/* Only for rows with a single value; lists of maps are not hashed. */
uint64_t bide__field_hash(uint64_t h, const struct bide__field *f,
                          const void *from)
{
    size_t len;
    const void *bytes = bytes_of(f, from, &len);

    h = mix(h, f->key, strlen(f->key) + 1);
    h = mix(h, &len, sizeof len);
    return mix(h, bytes, len);
}

uint64_t bide__fields_hash(uint64_t h, const struct bide__table *table,
                           const void *from)
{
    for (const struct bide__field *f = table->fields; f->key; f++)
        h = bide__field_hash(h, f, from);
    return h;
}
