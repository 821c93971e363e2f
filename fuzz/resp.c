/* fuzz/resp.c: what a server may send in place of a reply. A reply that is whole
 * reads, and nothing outside of the bytes is touched. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/resp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size ? size : 1);
    struct redis_scan whole = REDIS_SCAN_INIT, pieces = REDIS_SCAN_INIT;
    struct redis_reply reply;
    struct bide__arena *arena = bide__arena_new();
    int found, last = 0;

    if (!bytes || !arena)
        abort();
    if (size > 0)
        memcpy(bytes, data, size);
    found = redis_scan(&whole, bytes, size);
    for (size_t len = 0; len <= size && last == 0; len++)
        last = redis_scan(&pieces, bytes, len);
    if (found != last || (found > 0 && whole.at != pieces.at))
        abort(); /* in pieces it would have been another reply */
    if (found > 0)
        (void)redis_read_reply(bytes, whole.at, arena, &reply);
    bide__arena_free(arena);
    free(bytes);
    return 0;
}
