/* net/http1/first_line.h: the first line of a request or a response. */
#ifndef BIDE_NET_HTTP1_FIRST_LINE_H
#define BIDE_NET_HTTP1_FIRST_LINE_H

#include "net/http1/head.h"

/* Each of these returns a positive number when its part is done, 0 when it
 * needs more, or an error. */
int http1__request_line(struct http1_head *h, const char *buf, size_t n);
int http1__status_line(struct http1_head *h, const char *buf, size_t n);

/* What the method is. */
enum http1_method http1__method_id(const char *p, size_t len);

/* "HTTP/1.1" or "HTTP/1.0" from h->mark on; then h->at is after it. Read from
 * its beginning each time, which is cheap for eight bytes. */
int http1__version(struct http1_head *h, const char *buf, size_t n);

/* The LF of the first line. */
int http1__first_line_lf(struct http1_head *h, const char *buf, size_t n);

#endif
