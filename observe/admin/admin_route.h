/* The admin endpoint: who may ask (admin_guard.c), and what is asked
 * (admin_route.c). */
#ifndef BIDE_OBSERVE_ADMIN_ADMIN_ROUTE_H
#define BIDE_OBSERVE_ADMIN_ADMIN_ROUTE_H

#include "net/http/server.h"

struct bide__admin;

/* NULL, or why the request is refused (403). */
const char *admin_guard(const struct bide__admin *a,
                        const struct http_conn *c);

/* NULL, or why the action is refused; *ret_status is 401 or 403. */
const char *admin_guard_action(const struct bide__admin *a,
                               const struct http_conn *c, int *ret_status);

void admin_route(struct http_conn *c);

#endif
