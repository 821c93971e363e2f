/* The header of the PROXY protocol: whatever comes is read within its bounds,
 * more bytes never change what was whole, and what is written is read back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/proxy_protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds)
{
    if (!holds)
        abort();
}

static void check_back(const struct net_proxied *p)
{
    char text[NET_PROXIED_TEXT];
    struct net_proxied again;
    for (int version = 1; version <= 2; version++) {
        size_t n = net_proxied_write(text, version, &p->source, &p->target);
        check(n > 0 && n < NET_PROXIED_TEXT);
        check(net_proxied_read(text, n, &again) == (int)n);
        if (!again.known) /* one of them is a Unix socket */
            continue;
        uint8_t a[16], b[16];
        unsigned len = net_address_bytes(&p->source, a);
        check(net_address_bytes(&again.source, b) == len);
        check(memcmp(a, b, len) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct net_proxied whole, part;
    uint8_t *copy = malloc(size ? size : 1); /* so that its end is guarded */
    if (size)
        memcpy(copy, data, size);
    int n = net_proxied_read(copy, size, &whole);
    check(n >= -1 && n <= (int)size && n <= NET_PROXIED_MAX);
    for (size_t i = 0; i < size && i < 300; i++) {
        int k = net_proxied_read(copy, i, &part);
        if (n > 0)
            check(i < (size_t)n ? k == 0 : k == n);
        else if (k != 0) /* what was refused, or whole, stays so */
            check(k == n);
    }
    if (n > 0 && whole.known)
        check_back(&whole);
    free(copy);
    return 0;
}
