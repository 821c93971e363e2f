/* bide fetch: one URL from beginning to end (transfer.c), and its libcurl
 * handle (request.c). */
#ifndef BIDE_CMD_FETCH_TRANSFER_H
#define BIDE_CMD_FETCH_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/out.h"
#include "cmd/fetch/body.h"
#include "cmd/fetch/resume.h"
#include "cmd/fetch/sink.h"

struct fetch;
struct fetch_args;

enum fetch_state { FETCH_QUEUED, FETCH_RUNNING, FETCH_WAITING, FETCH_ENDED };

struct fetch_transfer {
    struct fetch *all;
    size_t index;            /* of the URL */
    const char *url, *label; /* the label is short */
    const char *output;      /* NULL: standard output */
    char *own_url, *own_output; /* to be freed */
    curl_mime *form;
    CURL *easy;
    bide_dep *dep;
    bide_rng_seeded random;
    bide_rng rng;
    struct curl_slist *headers;
    struct fetch_upload upload;
    struct fetch_sink sink;
    struct fetch_resume resume;
    bide_curl_result result;
    struct bide__out head; /* of the last response, and those before it */
    bool head_written;     /* -i */
    char *saved_as;        /* the file, if the server named it; or NULL */
    bool range_refused;    /* all of it came, not from -C on */
    bool kept_old;         /* an error did not replace the file */
    char error[CURL_ERROR_SIZE];
    int os_error;            /* why it could not be written; 0 */
    int exit;                /* code, once it has ended */
    enum fetch_state state;
    bool body_begun;         /* of this response */
    bool told_to_wait;       /* somebody who would wonder */
    bool over;               /* no attempt follows: this response is final, */
    bool unwanted;           /* but it is discarded */
    int64_t began_ns, took_ns;
    int64_t wait_until_ns;
    uint32_t attempt;
    off_t now, total;        /* bytes of the body; total 0: unknown */
};

/* Opens the output and begins. False: it has ended already. */
bool fetch_transfer_begin(struct fetch_transfer *t);
void fetch_transfer_done(struct fetch_transfer *t);

/* The method that the flags imply. */
const char *fetch_method(const struct fetch_args *a);

/* Creates the handle and the header. False: out of memory, or a form that cannot
 * be made, which was told. */
bool fetch_request_make(struct fetch_transfer *t);

/* The operation as the engine sees it. */
bide_op fetch_op(struct fetch_transfer *t);

/* Whom to tell about retries: --tell, as far as the address can decide. */
bide_curl_tell fetch_tell(const struct fetch_args *a);

#endif
