/* bide fetch: resuming an interrupted download. */
#ifndef BIDE_CMD_FETCH_RESUME_H
#define BIDE_CMD_FETCH_RESUME_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "bide/curl.h"

struct fetch_sink;

/* What the header of a response says. */
struct fetch_head {
    long status;
    char etag[256], modified[40], date[40];
    char filename[256];                /* of Content-Disposition; or "" */
    long long length;                  /* Content-Length; -1: missing; */
    long long range_first, range_size; /* likewise, from Content-Range */
};

struct fetch_resume {
    bool possible;        /* it is a plain GET */
    bool asked;           /* this attempt requests the rest */
    bool continues;       /* what is there is from an earlier invocation */
    bool distrusted;      /* the rest did not match: start over */
    off_t from;           /* start of the rest, one byte before the gap */
    off_t saved;          /* where it last resumed; 0: it did not */
    long long size;       /* of the whole; -1: unknown */
    struct fetch_head head;   /* of the current response */
    char validator[256];  /* of the response being collected; or "" */
    char field[300];      /* "If-Range: ..." */
    char range[40];
    struct curl_slist *node;  /* holds `field` in the request's header */
};

void fetch_head_line(struct fetch_head *h, const char *line, size_t len);

/* Before the first request: asks for what a file lacks (-C -). */
void fetch_resume_continue(struct fetch_resume *r, const struct fetch_sink *s,
                           CURL *easy);

/* After an interrupted response: prepares to request the rest or, if the sink
 * can be emptied, the whole. False: neither is possible. */
bool fetch_resume_prepare(struct fetch_resume *r, struct fetch_sink *s,
                          CURL *easy);
void fetch_resume_cancel(struct fetch_resume *r, CURL *easy);

/* Call when the body of a response begins. Returns how many of its bytes are
 * there already; -1: it is not what was requested. */
int fetch_resume_begin(struct fetch_resume *r, struct fetch_sink *s,
                       char first);

/* Call when a response is complete; it may have had no body, or only a part of
 * the rest. False: the result is not what it should be. */
bool fetch_resume_end(struct fetch_resume *r, struct fetch_sink *s,
                      bool has_body);

#endif
