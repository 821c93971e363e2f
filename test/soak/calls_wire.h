/* test/soak/calls_wire.h: a connection of nghttp2's, on a socket that does not block:
 * what the client and the origin of the gRPC run (calls.py) share. Both are nghttp2's,
 * so that bide is judged by another implementation of HTTP/2 than its own. */
#ifndef BIDE_TEST_CALLS_WIRE_H
#define BIDE_TEST_CALLS_WIRE_H

#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MESSAGE_HEAD = 5, MESSAGE_MOST = 20000 };

struct wire {
    int fd, epoll;
    nghttp2_session *h2;
    uint8_t *out; /* what is to be written */
    size_t len, at, room;
    bool full;    /* waits for room in the socket */
};

/* Takes a socket over; events have `w` for data. The session is to be set by then. */
void wire_init(struct wire *w, int fd, int epoll);
void wire_done(struct wire *w);

/* Appends bytes of our own, between the frames of the session. */
void wire_raw(struct wire *w, const void *bytes, size_t n);

/* Writes what the session has, as far as there is room. False: it broke. */
bool wire_push(struct wire *w);

/* Reads all there is. False: it has ended (*ret_reset: by a reset), or the peer has
 * broken the protocol. */
bool wire_pull(struct wire *w, bool *ret_reset);

/* A gRPC message about a call, with its prefix: the same bytes for the same number
 * and length; and one that arrives, piece by piece. */
void message_make(uint8_t *out, unsigned long call, size_t len);

struct message {
    uint32_t got, length; /* bytes; as the prefix has it */
    bool differs;
};

void message_take(struct message *m, unsigned long call, const uint8_t *bytes,
                  size_t n);
bool message_is_whole(const struct message *m);

/* splitmix64: neighbours share nothing. */
uint64_t mixed(uint64_t x);

int64_t now_ms(void);
void die(const char *what) __attribute__((noreturn));

#endif
