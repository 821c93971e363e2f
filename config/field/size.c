/* size.c: sizes in bytes, to and from text. */
#include "config/field/size.h"

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
