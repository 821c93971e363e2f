/* What the tests of the curl drivers have in common: a fault server, a policy
 * with short waits, and requests that remember what they were given. */
#ifndef BIDE_TEST_CURL_COMMON_H
#define BIDE_TEST_CURL_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "bide/bide.h"
#include "bide/curl.h"
#include "fault/start.h"

#define MS BIDE_MILLISECOND
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { KEPT = 4096 };

static struct fault server;

static inline int start_server(void **state)
{
    (void)state;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    server = fault_start();
    return 0;
}

static inline int stop_server(void **state)
{
    (void)state;
    curl_global_cleanup();
    return fault_stop(&server);
}

/* Waits of a few milliseconds; nothing but `attempts` stops a retry. */
static inline bide_policy_conf quick(void)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.backoff.base_ns = MS;
    conf.backoff.cap_ns = 5 * MS;
    conf.budget.kind = BIDE_BUDGET_OFF;
    conf.breaker.kind = BIDE_BREAKER_OFF;
    return conf;
}

static inline bide_dep *dep_of(const bide_policy_conf *conf)
{
    bide_dep *dep = NULL;
    assert_int_equal(bide_dep_new(&dep, "test", conf), 0);
    return dep;
}

/* A request, and all that came of it. */
struct exchange {
    CURL *easy;
    bide_curl_opts opts;
    bide_curl_result result;
    char id[64];
    char body[KEPT], head[KEPT]; /* as much as fits */
    size_t body_len, head_len;   /* all of it */
};

static inline size_t keep(char *to, size_t *len, const char *data, size_t n)
{
    if (*len + n < KEPT) {
        memcpy(to + *len, data, n);
        to[*len + n] = '\0';
    }
    *len += n;
    return n;
}

static inline size_t take_body(char *data, size_t size, size_t n, void *ctx)
{
    struct exchange *x = ctx;
    return keep(x->body, &x->body_len, data, size * n);
}

static inline size_t take_head(char *data, size_t size, size_t n, void *ctx)
{
    struct exchange *x = ctx;
    return keep(x->head, &x->head_len, data, size * n);
}

/* Each has an id of its own, by which the server counts. */
static inline void exchange_to(struct exchange *x, const char *url)
{
    static int serial;
    memset(x, 0, sizeof *x);
    snprintf(x->id, sizeof x->id, "t%d", ++serial);
    x->easy = curl_easy_init();
    assert_non_null(x->easy);
    char with_id[4096 + 80];
    snprintf(with_id, sizeof with_id, "%s%cid=%s", url,
             strchr(url, '?') ? '&' : '?', x->id);
    curl_easy_setopt(x->easy, CURLOPT_URL, with_id);
    x->opts = (bide_curl_opts){ .write = take_body, .write_ctx = x,
                                .header = take_head, .header_ctx = x,
                                .plain_handle = true,
                                .result = &x->result };
}

static inline void exchange_init(struct exchange *x, const char *script)
{
    char url[4096];
    fault_url(&server, url, sizeof url, "/s/%s", script);
    exchange_to(x, url);
}

static inline void exchange_done(struct exchange *x)
{
    curl_easy_cleanup(x->easy);
}

static inline int requests(const struct exchange *x)
{
    return fault_count(&server, x->id, "requests");
}

#endif
