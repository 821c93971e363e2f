/* What a call takes from the application's handle, and gives back at its end.
 *
 * bide sets some options during a call that the application may have set, too.
 * It takes an option only if it knows the application's value: because opts has
 * it, because the handle is recorded, or because opts says that there is none.
 * What it does not know it leaves alone, and does without. */
#ifndef BIDE_CURL_HANDLE_H
#define BIDE_CURL_HANDLE_H

#include "curl/record.h"

struct bide__transfer;

struct bide__handle {
    struct bide__set was;    /* what the handle gets back */
    bool recorded;

    /* The response's body, its head, and the request's headers: ours? */
    bool takes_body, takes_head, takes_headers;
    curl_write_callback write; /* never NULL if takes_body */
    void *write_ctx;
    curl_write_callback header; /* NULL: nobody wants it */
    void *header_ctx;
    struct curl_slist *headers;

    /* The request's body, if it is read and the handle is recorded. */
    bool reads;
    long long read_from;     /* where a file began; -1: cannot seek */
};

void bide__handle_take(struct bide__handle *h, CURL *easy,
                       const bide_curl_opts *opts);

/* Sets what an attempt needs, on the handle or on a copy of it. */
void bide__handle_set(const struct bide__handle *h, CURL *easy,
                      struct bide__transfer *t);

/* The application's own timeout, if it is known and shorter. */
int64_t bide__handle_timeout(const struct bide__handle *h, int64_t timeout_ns);

/* Makes the request's body begin again after `t` has read some of it; false if
 * that is not possible. */
bool bide__handle_rewind(const struct bide__handle *h, struct bide__transfer *t);

/* `timeout_ms` stays on a handle whose own timeout is not known: rather that
 * than none. */
void bide__handle_give_back(const struct bide__handle *h, CURL *easy,
                            long timeout_ms);

#endif
