/* bide fetch: values that curl has its own ways with (values.c), and files of
 * flags (config_file.c). What takes the text of a flag gives NULL, or what was
 * expected. */
#ifndef BIDE_CMD_FETCH_VALUES_H
#define BIDE_CMD_FETCH_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct curl_slist;
struct fetch_args;

const char *fetch_take_headers(struct fetch_args *a, const char *text);
const char *fetch_take_cookie(struct fetch_args *a, const char *text);
const char *fetch_take_cert(struct fetch_args *a, const char *text);
const char *fetch_take_range(struct fetch_args *a, const char *text);
const char *fetch_take_write_out(struct fetch_args *a, const char *text);
const char *fetch_take_continue(struct fetch_args *a, const char *text);
const char *fetch_take_rate(struct fetch_args *a, const char *text);

/* --retry, --retry-delay, --retry-max-time, --max-time: the policy that they
 * stand for. */
const char *fetch_take_retry(struct fetch_args *a, const char *name,
                             const char *text);

/* Seconds as curl has them, "2.5", or a duration as bide has them, "2500ms". */
bool fetch_read_seconds(const char *text, int64_t *ret_ns);

/* Appends; "something that fits into memory" if it does not. */
const char *fetch_list_add(struct curl_slist **list, const char *text);

/* A whole file, or standard input ("-"), with a NUL behind it; the caller frees
 * it. NULL, and errno. */
char *fetch_read_file(const char *path, size_t *ret_len);
const char *fetch_no_file(void); /* what was expected then */

/* Takes the ends of lines away, as curl does with files; gives the length. */
size_t fetch_without_newlines(char *data, size_t len);

/* -K, a file of flags (config_file.c). */
const char *fetch_take_config(struct fetch_args *a, const char *path);

#endif
