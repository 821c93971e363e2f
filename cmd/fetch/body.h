/* bide fetch: request bodies. */
#ifndef BIDE_CMD_FETCH_BODY_H
#define BIDE_CMD_FETCH_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "bide/curl.h"

/* The body from -d, as it is sent. */
struct fetch_data {
    char *at;
    size_t len;
    bool given;
};

/* Adds to the data of -d, or of --data-binary, -raw or -urlencode: `how` is what
 * follows "data" there. NULL, or what was expected. */
const char *fetch_data_add(struct fetch_data *d, const char *text,
                           const char *how);

/* The form of -F and --form-string, for one handle; NULL, and a complaint was
 * printed. */
struct fetch_args;
curl_mime *fetch_form(const struct fetch_args *a, CURL *easy);

/* A file that each attempt reads from the beginning. */
struct fetch_upload {
    int fd; /* shared, so it is read by position */
    off_t size, at;
};

/* Opens the file of -T; standard input is copied first, so that it can be sent
 * again. False, and errno. */
bool fetch_upload_open(struct fetch_upload *u, const char *path);
void fetch_upload_options(struct fetch_upload *u, CURL *easy);
bool fetch_upload_rewind(void *upload);

#endif
