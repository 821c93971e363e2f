/* net/http1/media.h: what a message is, by its content-type.
 *
 *     if (http1_is_grpc(&head, text))
 *         read_status();
 */
#ifndef BIDE_NET_HTTP1_MEDIA_H
#define BIDE_NET_HTTP1_MEDIA_H

#include <stdbool.h>

#include "net/http1/head.h"

/* Whether a head, of which `text` is the beginning, is that of a gRPC message.
 * gRPC-Web is another protocol. */
bool http1_is_grpc(const struct http1_head *head, const char *text);

#endif
