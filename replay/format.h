/* A format of access logs, compiled: what format.c makes and
 * line.c matches. */
#ifndef BIDE_REPLAY_FORMAT_H
#define BIDE_REPLAY_FORMAT_H

#include "replay/replay.h"

enum field {
    ANY,
    TIME_CLF,     /* 10/Oct/2000:13:55:36 -0700 */
    TIME_CLF_BOX, /* the same in brackets, Apache's %t */
    TIME_ISO,
    TIME_EPOCH,
    STATUS,
    REQUEST, /* GET /path HTTP/1.1 */
    METHOD,
    LATENCY_S,
    LATENCY_US,
    LATENCY_REST /* " 0.123" or " 123456" or nothing: the end of a line */
};

/* Text, then a field. */
struct part {
    char *text;
    size_t len;
    enum field field;
};

enum { PARTS_MAX = 64 };

struct replay_format {
    bool json;
    struct part part[PARTS_MAX];
    size_t n;
    char *tail; /* text behind the last field */
    size_t tail_len;
};

#endif
