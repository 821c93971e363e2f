/* What the two tests of the drop-in share: requests of the program in
 * program.c, each with an id by which the fault server counts. */
#ifndef BIDE_TEST_CURL_DROPIN_H
#define BIDE_TEST_CURL_DROPIN_H

#include "common.h"
#include "program.h"

static char id[32];

static inline void program_to(struct program *p, const char *script)
{
    static int serial;
    char url[4096];
    snprintf(id, sizeof id, "d%d", ++serial);
    fault_url(&server, url, sizeof url, "/s/%s?id=%s", script, id);
    program_init(p, url);
}

static inline void check_arrived(int n)
{
    assert_int_equal(fault_count(&server, id, "requests"), n);
    for (int i = 1; i <= n; i++)
        assert_string_equal(fault_seen(&server, id, i, "traceparent"),
                            PROGRAM_TRACE);
}

static inline void clear(struct program *p)
{
    p->body[0] = p->head[0] = '\0';
    p->body_len = p->head_len = 0;
    p->bodies = p->heads = p->progress = p->prereqs = 0;
}

static inline void check_answer(const struct program *p, const char *body)
{
    long status = 0;
    assert_string_equal(p->body, body);
    assert_non_null(strstr(p->head, "HTTP/1.1 200 Fine\r\n"));
    curl_easy_getinfo(p->easy, CURLINFO_RESPONSE_CODE, &status);
    assert_int_equal(status, 200);
}

#endif
