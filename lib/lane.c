/* Summing over the lanes. */
#include <stddef.h>

#include "lib/lane.h"

uint64_t bide__lanes_sum(const struct bide__lane *lanes, uint32_t n,
                         size_t member, uint64_t tick, uint8_t era)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        const char *lane = (const char *)&lanes[i];
        sum += bide__window_sum((const void *)(lane + member), tick, era);
    }
    return sum;
}
