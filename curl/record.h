/* What a program has set on a handle: of the options that bide sets itself
 * during a call, and of those that say how its body is read.
 *
 * Records live in memory that is never given back, only used again, and a
 * handle names its record by number: as CURLOPT_RTSP_SESSION_ID, which is the
 * one text that libcurl copies, resets and frees with the handle, that it can
 * be asked for, and that means nothing to HTTP. A record names its handle as
 * well. So a handle that was freed, reset or copied without our knowledge is
 * never taken for another. Threads: owned, as its handle is. */
#ifndef BIDE_CURL_RECORD_PARTS_H
#define BIDE_CURL_RECORD_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/curl.h"

struct bide__set {
    curl_write_callback write;
    void *write_ctx;
    curl_write_callback header;
    void *header_ctx;
    struct curl_slist *headers;
    long timeout_ms;
    curl_prereq_callback prereq;
    void *prereq_ctx;
    curl_read_callback read;
    void *read_ctx;
    curl_seek_callback seek;
    void *seek_ctx;
};

/* As in a new handle. */
struct bide__set bide__set_new(void);

/* NULL: the handle is not recorded. */
const struct bide__set *bide__set_of(CURL *easy);

#endif
