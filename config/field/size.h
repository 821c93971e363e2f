/* Sizes in bytes, as written in files. */
#ifndef BIDE_CONFIG_FIELD_SIZE_H
#define BIDE_CONFIG_FIELD_SIZE_H

#include <stddef.h>
#include <stdint.h>

/* "64KiB" or "65536"; BIDE_EPARSE. And back. */
int bide__parse_size(const char *text, size_t len, uint64_t *ret);
const char *bide__format_size(uint64_t bytes, char *buffer, size_t size);

#endif
