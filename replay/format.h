/* Formats of access logs: format.c compiles what was asked for, line.c matches a
 * line with it. */
#ifndef BIDE_REPLAY_FORMAT_H
#define BIDE_REPLAY_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the request of a line ended, as one number: an HTTP status, or what is said
 * beside it where that says more. */
enum {
    REPLAY_GRPC = 1000,  /* and a bide_grpc */
    REPLAY_FAULT = 1100, /* and a bide_fault: there was no response */
    REPLAY_MET = 1200    /* all are below */
};

struct replay_line {
    int64_t at_ns; /* since 1970 */
    uint32_t latency_us;
    uint16_t met;
    bool idempotent : 1;
    bool whole_second : 1; /* the log has no finer resolution */
    bool at_end : 1;       /* it was written when the response was complete */
};

enum { REPLAY_BAD_SHOWN = 5, REPLAY_LINE_MAX = 65536 };

enum field {
    ANY,
    TIME_CLF,     /* 10/Oct/2000:13:55:36 -0700 */
    TIME_CLF_BOX, /* the same in brackets, Apache's %t */
    TIME_ISO,
    TIME_EPOCH,
    TIME_END,     /* nginx: TIME_CLF, TIME_ISO or TIME_EPOCH, of the end */
    TIME_HAPROXY, /* 06/Feb/2009:12:14:14.655 */
    STATUS,
    REQUEST,      /* GET /path HTTP/1.1 */
    REQUEST_REST, /* anything, and that in quotes: the end of a line */
    METHOD,
    LATENCY_S,
    LATENCY_MS,
    LATENCY_US,
    LATENCY_LAST, /* HAProxy's timers, 10/0/30/69/109: the last is all of it */
    LATENCY_REST, /* " 0.123" or " 123456" or nothing: the end of a line */
    LEAD          /* whatever a line begins with, up to a blank and `[` */
};

/* Text, then a field. */
struct part {
    char *text;
    size_t len;
    enum field field;
};

enum { PARTS_MAX = 64 };

/* A format: one of replay_format_names, or one in the syntax of nginx
 * ('$remote_addr [$time_local] "$request" $status $request_time'), of Apache
 * ('%h %t "%r" %>s %D') or of Envoy ('[%START_TIME%] %RESPONSE_CODE%').
 * Threads: immutable. */
struct replay_format {
    bool json;
    struct part part[PARTS_MAX];
    size_t n;
    char *tail; /* text after the last field */
    size_t tail_len;
};

/* Those with a name; ends with NULL. Each before those that its lines would
 * match as well. */
extern const char *const replay_format_names[];

/* NULL and *ret_why, if it is invalid. */
struct replay_format *replay_format_new(const char *text, const char **ret_why);
void replay_format_free(struct replay_format *format);

/* Reads one line; 0, or BIDE_EPARSE and why. */
int replay_format_line(const struct replay_format *format, const char *text,
                       size_t len, struct replay_line *ret,
                       bool *ret_has_latency, const char **ret_why);

#endif
