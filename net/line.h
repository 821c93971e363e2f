/* net/line.h: short messages between two processes, each with at most one file
 * descriptor.
 *
 *     int ends[2];
 *     line_pair(ends);
 *     line_send(ends[1], "hold", "listen 127.0.0.1:80", fd);
 *     ...
 *     struct line_message m;
 *     while (line_receive(ends[0], &m) > 0)
 *         ...                                  // m.word, m.text, m.fd
 *
 * A message arrives whole or not at all, and receiving never waits. A process
 * that dies closes its end. */
#ifndef BIDE_NET_LINE_H
#define BIDE_NET_LINE_H

#include <stddef.h>

enum { LINE_BYTES = 4096 };

/* Threads: owned. */
struct line_message {
    const char *word; /* what it is about: up to the first blank */
    const char *text; /* the rest; "" if there is none */
    int fd;           /* the receiver's to close; -1: none */
    char bytes[LINE_BYTES];
};

/* 0; -1 and errno. Programs that are started inherit neither end. */
int line_pair(int ends[2]);

/* Sends a message; fd stays the caller's; -1: none. 0; -1 and errno. */
int line_send(int line, const char *word, const char *text, int fd);

/* 1; 0: there is none now, or the other end is closed. */
int line_receive(int line, struct line_message *ret);

#endif
