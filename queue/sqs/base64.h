/* queue/sqs/base64.h: any bytes as text (RFC 4648), since SQS carries only text.
 *
 *     struct bide__out out = { 0 };
 *     sq_base64_write(&out, "\0\1", 2);              // AAE=
 *     size_t len;
 *     unsigned char *bytes = sq_base64_read("AAE=", 4, &len);
 *     free(bytes);
 */
#ifndef BIDE_QUEUE_SQS_BASE64_H
#define BIDE_QUEUE_SQS_BASE64_H

#include <stddef.h>

#include "base/out.h"

void sq_base64_write(struct bide__out *out, const void *bytes, size_t len);

/* NULL: not base64, or no memory. A zero byte is behind the bytes. */
unsigned char *sq_base64_read(const char *text, size_t len, size_t *ret_len);

#endif
