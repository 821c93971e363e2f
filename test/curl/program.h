/* A program as people write them: plain libcurl, with headers, callbacks and
 * bodies, and nothing of bide in it. program.c is compiled twice: as it is, and
 * with bide/curl.h in front (-include), which is what a program does that
 * changes its one line. */
#ifndef BIDE_TEST_CURL_PROGRAM_H
#define BIDE_TEST_CURL_PROGRAM_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

struct program {
    CURL *easy;
    struct curl_slist *headers;
    char body[8192], head[8192];
    size_t body_len, head_len;
    int bodies, heads, progress, prereqs; /* calls of each */
    size_t sent, to_send;
    int seeks;
};

#define PROGRAM_TRACE "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

/* A GET with headers and a write, a header and a progress function. */
void program_init(struct program *p, const char *url);
void program_post(struct program *p);      /* POSTFIELDS */
void program_put(struct program *p, bool seeks); /* a read function */
void program_put_file(struct program *p, FILE *file);
void program_timeout(struct program *p, long ms);
CURLcode program_perform(struct program *p); /* without bide */
void program_reset(struct program *p);     /* as after curl_easy_init() */
void program_copy(struct program *p);      /* goes on with a copy */
void program_done(struct program *p);

#endif
