/* net/address.h: socket addresses, listening and connecting.
 *
 *     struct net_address a;
 *     if (net_address_parse(&a, "::1", 8080) < 0)
 *         ...                                    // not a numeric address
 *     int fd = net_listen(&a, NET_REUSEPORT);    // -1 and errno
 *     int up = net_connect(&a);                  // under way, or done */
#ifndef BIDE_NET_ADDRESS_H
#define BIDE_NET_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Threads: immutable. */
struct net_address {
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
        struct sockaddr_un un;
    } to;
    socklen_t len;
};

enum { NET_ADDRESS_TEXT = 128 };

/* Reads a numeric address; "*" is any (IPv6 and IPv4). 0, or -1. */
int net_address_parse(struct net_address *ret, const char *host, uint16_t port);

/* A Unix socket. -1: the path is too long. */
int net_address_unix(struct net_address *ret, const char *path);

/* "127.0.0.1:80", "[::1]:80", "unix:/run/x". */
const char *net_address_text(const struct net_address *a,
                             char text[NET_ADDRESS_TEXT]);

/* 4 or 16 bytes in network order; 4 for an IPv4-mapped IPv6 address, 0 for a
 * Unix socket. */
unsigned net_address_bytes(const struct net_address *a, uint8_t bytes[16]);

/* A non-blocking listening socket. With NET_REUSEPORT several may share the
 * address. With NET_ALONE it is the first of several: it fails (EADDRINUSE) if
 * any other socket listens there; once it is open, NET_REUSEPORT sockets may
 * join it. -1 and errno. */
enum { NET_REUSEPORT = 1, NET_ALONE = 2 };
int net_listen(const struct net_address *a, int flags);

/* A non-blocking socket that is connecting or connected. -1 and errno. */
int net_connect(const struct net_address *a);

/* The result of connecting: 0, or an errno. */
int net_connect_result(int fd);

/* Sends small writes at once. No effect on a Unix socket. */
void net_nodelay(int fd);

#endif
