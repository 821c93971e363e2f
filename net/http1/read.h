/* net/http1/read.h: what the files of the parser share.
 *
 * A head is read in phases, from its first byte to its last, each byte once. A
 * phase that finds its bytes incomplete leaves head->at where it stopped and
 * returns 0; the next call enters the same phase again. Nothing depends on how
 * many bytes happen to be available, so a message split anywhere gives the same
 * result as the whole. */
#ifndef BIDE_NET_HTTP1_READ_H
#define BIDE_NET_HTTP1_READ_H

#include "net/http1/head.h"
#include "net/http1/scan.h"

enum http1__sort { HTTP1__REQUEST, HTTP1__RESPONSE, HTTP1__TRAILER };

enum http1__phase {
    /* first lines */
    HTTP1__START, /* one empty line is skipped before a request */
    HTTP1__METHOD,
    HTTP1__TARGET,
    HTTP1__VERSION, /* of a request */
    HTTP1__VERSION_LF,
    HTTP1__STATUS, /* version of a response */
    HTTP1__CODE,
    HTTP1__REASON,
    HTTP1__REASON_LF,
    /* header lines */
    HTTP1__NAME,
    HTTP1__BLANKS,
    HTTP1__VALUE,
    HTTP1__VALUE_LF,
    HTTP1__END_LF,
    HTTP1__DONE,
    HTTP1__FAILED,
};

/* Each of these returns a positive number when its part is done, 0 when it
 * needs more, or an error. */
int http1__request_line(struct http1_head *h, const char *buf, size_t n);
int http1__status_line(struct http1_head *h, const char *buf, size_t n);
int http1__lines(struct http1_head *h, const char *buf, size_t n);

/* "HTTP/1.1" or "HTTP/1.0" from h->mark on; then h->at is after it. Read from
 * its beginning each time, which is cheap for eight bytes. */
int http1__version(struct http1_head *h, const char *buf, size_t n);

/* The LF of the first line. */
int http1__first_line_lf(struct http1_head *h, const char *buf, size_t n);

/* Finds the parts of a target and its form. 0 or an error. */
int http1__target(struct http1_head *h, const char *buf);

/* host, host:port, [v6], [v6]:port; without a port where that is optional. */
bool http1__authority_valid(const char *p, size_t len, bool port_needed);

/* Applies one field to the message; called once for each whose flags have
 * HTTP1_FRAMES, before h->seen has its bit. 0 or an error. */
int http1__mean(struct http1_head *h, const char *buf,
                const struct http1_field *f);

/* Applies all fields together: framing, and whether the connection persists. */
int http1__finish(struct http1_head *h, const char *buf);

/* Connection, in two steps: one field's options, 0 or an error; and, when all
 * fields are known, marking those that it names. */
int http1__connection(struct http1_head *h, const char *buf,
                      const struct http1_field *f);
void http1__nominated(struct http1_head *h, const char *buf);

/* Begins a trailer section, with its own offsets. */
void http1__trailer_init(struct http1_head *h);

/* The id of a name that is not empty and has no underscore. */
enum http1_id http1__known_id(const char *name, size_t len);

/* HTTP1_HOP and the like, by id; the slot of a name in the table. */
extern const uint8_t http1__flags[HTTP1_IDS];
unsigned http1__slot(const char *name, size_t len);

#endif
