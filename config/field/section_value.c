/* section_value.c: values of sections that options do not have, and all of them
 * as text. */
#include "config/field/section.h"

#include <stdio.h>
#include <string.h>

#include "config/field/value.h"

static const struct {
    const char *name;
    int shift;
} units[] = { { "GiB", 30 }, { "MiB", 20 }, { "KiB", 10 } };

int bide__parse_size(const char *text, size_t len, uint64_t *ret)
{
    uint64_t bytes;
    int shift = 0;

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (len > 3 && memcmp(text + len - 3, units[i].name, 3) == 0)
            shift = units[i].shift;
    if (bide__parse_count(text, shift ? len - 3 : len, &bytes) < 0)
        return BIDE_EPARSE;
    *ret = bytes > UINT64_MAX >> shift ? UINT64_MAX : bytes << shift;
    return 0;
}

const char *bide__format_size(uint64_t bytes, char *buffer, size_t size)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (bytes && bytes % (UINT64_C(1) << units[i].shift) == 0) {
            snprintf(buffer, size, "%llu%s",
                     (unsigned long long)(bytes >> units[i].shift),
                     units[i].name);
            return buffer;
        }
    snprintf(buffer, size, "%llu", (unsigned long long)bytes);
    return buffer;
}

static const char *size_text(const struct bide__section_field *f,
                             const void *field, char *buffer, size_t size)
{
    uint64_t wide;
    uint32_t narrow;

    if (!f->o.special) {
        memcpy(&narrow, field, sizeof narrow);
        return bide__format_size(narrow, buffer, size);
    }
    memcpy(&wide, field, sizeof wide);
    return wide == UINT64_MAX ? f->o.special
                              : bide__format_size(wide, buffer, size);
}

const char *bide__field_text(const struct bide__section_field *f,
                             const void *from, char *buffer, size_t size)
{
    if (f->fallback)
        return f->fallback;
    if (f->kind == BIDE__VALUE)
        return bide__option_text(from, &f->o, buffer, size);
    if (f->kind == BIDE__SIZE)
        return size_text(f, (const char *)from + f->o.offset, buffer, size);
    return NULL;
}

size_t bide__member_count(const struct bide__node *node)
{
    return node->kind == BIDE__SCALAR ? 1 : node->n;
}

const struct bide__node *bide__member(const struct bide__node *node, size_t i)
{
    return node->kind == BIDE__LIST ? node->items[i] : node;
}
