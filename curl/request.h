/* What a transfer sends: its headers, its method and what that means for
 * retrying. */
#ifndef BIDE_CURL_REQUEST_H
#define BIDE_CURL_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/curl.h"

struct bide__curl_call;
struct bide__transfer;

/* True if the list has a field of this name that is not empty. */
bool bide__headers_have(const struct curl_slist *list, const char *name);

/* Records the request's method: before a redirect may have changed it, and only
 * if the response is not a plain success, since otherwise it is not needed. */
void bide__note_method(struct bide__transfer *t);

/* No key can be sent: a policy that generates one, and so allows everything to
 * be repeated, must not do so here. */
void bide__no_key(struct bide__curl_call *c);

/* Records it, and determines what it means for retrying. Only once there was a
 * connection: before that libcurl does not know the protocol. */
void bide__curl_learn(struct bide__transfer *t);

/* For a handle whose header function is not ours: looks whether there has been
 * a response since the request was begun. */
void bide__note_answered(struct bide__transfer *t);

/* How many connections libcurl has opened for a transfer so far. */
long bide__curl_connects(CURL *easy);

/* A CURLOPT_PREREQFUNCTION: there is a connection, and the request comes
 * next. */
int bide__request_ready(void *transfer, char *ip, char *local_ip, int port,
                        int local_port);

#endif
