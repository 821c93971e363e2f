/* What a transfer came to, as the engine classifies it. */
#ifndef BIDE_CURL_CLASSIFY_H
#define BIDE_CURL_CLASSIFY_H

#include <stdbool.h>
#include <stddef.h>

#include "bide/curl.h"
#include "bide/dep.h"
#include "bide/run.h"

/* What is known about a transfer beyond its handle. */
struct bide__facts {
    const char *method;
    bool not_sent;
    bool refused;            /* HTTP/2: the server has not begun with it */
    bool unanswered;         /* the status is of an earlier request */
    bool status_only;        /* it is still running: no fault yet */
    const void *body;
    size_t body_len;
};

/* A success that only a rule of the policy could reclassify. Most responses are
 * of this kind, and should cost nothing. */
static inline bool bide__is_good_answer(const bide_policy_conf *policy,
                                        CURLcode code, long status)
{
    return code == CURLE_OK && status >= 200 && status < 400 &&
           (!policy || policy->n_rules == 0);
}

bide_outcome bide__curl_classify(const bide_dep *dep, CURL *easy, CURLcode code,
                                 const struct bide__facts *facts);

/* True if no byte of a request can have left. */
bool bide__curl_unsent(CURL *easy);

#endif
