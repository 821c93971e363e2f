/* Names that are never answered, to be loaded before libc: those that begin with
 * `silent` keep whoever asks for them waiting for ever. All others are looked up
 * as usual. */
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

typedef int lookup(const char *, const char *, const struct addrinfo *,
                   struct addrinfo **);

int getaddrinfo(const char *node, const char *service,
                const struct addrinfo *hints, struct addrinfo **res)
{
    lookup *real;
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");

    while (node && strncmp(node, "silent", 6) == 0)
        pause();
    memcpy(&real, &symbol, sizeof real);
    return real(node, service, hints, res);
}
