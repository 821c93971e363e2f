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

/* Reads header lines up to the empty one. Positive when it has been read, 0 when
 * more is needed, or an error. */
int http1__lines(struct http1_head *h, const char *buf, size_t n);

/* Begins a trailer section, with its own offsets. */
void http1__trailer_init(struct http1_head *h);

#endif
