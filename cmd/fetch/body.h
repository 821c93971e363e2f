/* bide fetch: what is sent. */
#ifndef BIDE_CMD_FETCH_BODY_H
#define BIDE_CMD_FETCH_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "bide/curl.h"

/* A body that was given with -d, as it is sent. */
struct fetch_data {
    char *at;
    size_t len;
    bool given;
};

/* Adds to what -d has collected; `binary`: as it is. NULL, or what was
 * expected. */
const char *fetch_data_add(struct fetch_data *d, const char *text, bool binary);

/* A file that is read from its beginning for each attempt. */
struct fetch_upload {
    int fd; /* shared: it is read by position */
    off_t size, at;
};

/* Opens what -T names; standard input is copied first, so that it can be sent
 * again. False, and errno. */
bool fetch_upload_open(struct fetch_upload *u, const char *path);
void fetch_upload_options(struct fetch_upload *u, CURL *easy);
bool fetch_upload_rewind(void *upload);

#endif
