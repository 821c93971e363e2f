/* Idempotency keys: random UUIDs (version 4), 122 bits from the kernel. */
#include <stdio.h>
#include <sys/random.h>

#include "bide/error.h"
#include "bide/run.h"

int bide_key_new(char key[37])
{
    unsigned char b[16];
    if (!key)
        return BIDE_EINVAL;
    if (getrandom(b, sizeof b, 0) != (ssize_t)sizeof b)
        return BIDE_EENTROPY;
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    snprintf(key, 37,
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
             "%02x%02x%02x%02x%02x%02x",
             b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10],
             b[11], b[12], b[13], b[14], b[15]);
    return 0;
}
