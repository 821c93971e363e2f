/* bide fetch: going on with a broken download. */
#ifndef BIDE_CMD_FETCH_RESUME_H
#define BIDE_CMD_FETCH_RESUME_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "bide/curl.h"

struct fetch_sink;

/* What the header of an answer says. */
struct fetch_head {
    long status;
    char etag[256], modified[40], date[40];
    long long length;                  /* Content-Length; -1: not said, ... */
    long long range_first, range_size; /* ... as with those of Content-Range */
};

struct fetch_resume {
    bool possible;        /* it is a plain GET */
    bool asked;           /* this attempt asks for a rest */
    bool distrusted;      /* the rest did not fit: start over */
    off_t from;           /* of the rest: one byte before what is missing */
    off_t saved;          /* where it went on the last time; 0: it did not */
    long long size;       /* of the whole; -1: not known */
    struct fetch_head head;   /* of the answer that comes in */
    char validator[256];  /* of the answer that is being collected; or "" */
    char field[300];      /* "If-Range: ..." */
    char range[40];
    struct curl_slist *node;  /* that holds `field`, in the request's header */
};

void fetch_head_line(struct fetch_head *h, const char *line, size_t len);

/* An answer broke off: ask for the rest, or, if the sink can be emptied, for
 * all of it. False: neither can be done. */
bool fetch_resume_prepare(struct fetch_resume *r, struct fetch_sink *s,
                          CURL *easy);
void fetch_resume_cancel(struct fetch_resume *r, CURL *easy);

/* The body of an answer begins. Gives how many bytes of it are there already;
 * -1: it is not what was asked for. */
int fetch_resume_begin(struct fetch_resume *r, struct fetch_sink *s,
                       char first);

/* An answer is complete, but it may have had no body, or have been only a part
 * of the rest. False: what is there is not what it should be. */
bool fetch_resume_end(struct fetch_resume *r, struct fetch_sink *s,
                      bool has_body);

#endif
