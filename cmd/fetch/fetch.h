/* The parts of `bide fetch`: args.c reads the flags and body.c the request
 * body, request.c sets up libcurl, transfer.c handles one URL from beginning to
 * end, sink.c writes its response and resume.c resumes an interrupted one,
 * loop.c runs all transfers, and progress.c, bar.c and json.c report on them. */
#ifndef BIDE_CMD_FETCH_FETCH_H
#define BIDE_CMD_FETCH_FETCH_H

#include <sys/types.h>

#include "bide/curl.h"
#include "cmd/fetch/body.h"

struct fetch_args;
struct fetch_transfer;

/* ===== transfer.c: one URL ===== */

struct fetch;

/* ===== loop.c: all of them ===== */

struct fetch_dep {
    char origin[300];
    bide_dep *dep;
};

struct fetch {
    const struct fetch_args *args;
    bide_curl_multi *multi;
    struct fetch_transfer *transfers;
    size_t n, next, printed;  /* next to begin; to print */
    size_t running, ended, failed;
    struct fetch_dep *deps;
    size_t n_deps;
    struct fetch_upload upload;
    CURLSH *cookies;          /* that all transfers share; or NULL */
    bool head_dumped;         /* -D has begun its file */
    bool bar;                 /* progress is shown */
    bool bar_drawn;
    bool beginning;           /* begin_more() runs */
    bool quiet;               /* prints nothing more */
    double rate;              /* bytes a second, smoothed */
    off_t rate_bytes;         /* when it was last measured, */
    int64_t rate_ns;          /* at this time */
    off_t finished_bytes;
    int64_t began_ns;
};

int fetch_loop(const struct fetch_args *args);

/* Call when a transfer has ended: the next one may begin, and be printed. */
void fetch_ended(struct fetch_transfer *t);

#endif
