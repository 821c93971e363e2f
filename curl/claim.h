/* Who owns the retries of a call over libcurl: read from the header fields that
 * the application passes on, and written into each request. */
#ifndef BIDE_CURL_CLAIM_H
#define BIDE_CURL_CLAIM_H

#include "curl/transfer.h"

/* Reads the claim of a layer above, if the application's header fields have one
 * (because it forwards baggage, say), into c->op; and sets c->headers to those
 * fields without it. */
void bide__curl_claim_begin(struct bide__curl_call *c, int64_t now);
void bide__curl_claim_end(struct bide__curl_call *c);

/* Puts the nodes for a claim before `rest`. They are empty, and nothing is sent
 * for them, until the request is about to be sent. */
struct curl_slist *bide__claim_nodes(struct bide__transfer *t,
                                     struct curl_slist *rest);

/* The request goes to `ip` next: fills in the nodes. False: no memory. */
bool bide__claim_write(struct bide__transfer *t, const char *ip);
void bide__claim_free(struct bide__transfer *t);

/* Whether a claim may go there, by opts.tell. */
bool bide__claim_told(const struct bide__curl_call *c, const char *ip);

#endif
