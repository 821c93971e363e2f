/* bide fetch: names of files, from URLs, flags and servers. */
#ifndef BIDE_CMD_FETCH_NAMES_H
#define BIDE_CMD_FETCH_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct fetch_args;

/* The last part of a URL's path, which the caller frees; NULL if it cannot be a
 * file name. */
char *fetch_remote_name(const char *url);

/* The URL that a file is uploaded to: the name of the file is appended to one
 * that ends with a slash. And the URL with data as its query (-G). The caller
 * frees them; NULL: out of memory, or not a URL. */
char *fetch_upload_url(const char *url, const char *path);
char *fetch_get_url(const char *url, const char *data);

/* Where a file of that name goes, by --output-dir. The caller frees it. */
char *fetch_output_path(const struct fetch_args *a, const char *name);

/* The name of a file in the value of Content-Disposition: its last part, and
 * none that begins with a dot. "" if there is none. */
void fetch_disposition_name(const char *value, char *name, size_t size);

/* Writes the origin of a URL, "https://host:443", to `buffer`; false if it is
 * not a URL. */
bool fetch_origin(const char *url, char *buffer, size_t size);

#endif
