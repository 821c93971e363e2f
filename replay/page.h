/* The report of a log as a page: one file that needs nothing else, with the
 * answer, the policies side by side, and failures and attempts over time. */
#ifndef BIDE_REPLAY_PAGE_H
#define BIDE_REPLAY_PAGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct replay_log;
struct traffic;

/* `log_name` is the file's. The caller looks at ferror(). */
void replay_page(FILE *out, const char *log_name, const struct replay_log *log,
                 const struct traffic *t, size_t n);

/* ===== its parts ===== */

/* Text in HTML. */
void replay_html(FILE *out, const char *text);

/* 6662 as "6 662", with spaces that do not break. */
const char *replay_grouped(uint64_t n, char buffer[48]);

/* What a picture shows: in the log, or under the policies. */
enum replay_shown { REPLAY_SHOW_FAILED, REPLAY_SHOW_ATTEMPTS };

/* An SVG with a line for the log and one for each policy. */
void replay_picture(FILE *out, const struct traffic *t, size_t n,
                    enum replay_shown shown);

#endif
