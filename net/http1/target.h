/* net/http1/target.h: what a request is for. */
#ifndef BIDE_NET_HTTP1_TARGET_H
#define BIDE_NET_HTTP1_TARGET_H

#include "net/http1/head.h"

/* Finds the parts of a target and its form. 0 or an error. */
int http1__target(struct http1_head *h, const char *buf);

/* host, host:port, [v6], [v6]:port; without a port where that is optional. */
bool http1__authority_valid(const char *p, size_t len, bool port_needed);

#endif
