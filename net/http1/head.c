/* net/http1/head.c: a head from its first byte to its last. */
#include "net/http1/first_line.h"
#include "net/http1/framing.h"
#include "net/http1/head.h"
#include "net/http1/read.h"

#include <assert.h>

static void init(struct http1_head *h, enum http1__sort sort,
                 struct http1_field *fields, unsigned max_fields,
                 unsigned max_bytes)
{
    assert(max_bytes <= HTTP1_HEAD_MOST && max_fields <= UINT16_MAX);
    *h = (struct http1_head){
        .fields = fields,
        .sort = (uint8_t)sort,
        .max_fields = (uint16_t)max_fields,
        .max_bytes = (uint16_t)max_bytes,
    };
}

void http1_request_init(struct http1_head *head, struct http1_field *fields,
                        unsigned max_fields, unsigned max_bytes)
{
    init(head, HTTP1__REQUEST, fields, max_fields, max_bytes);
    head->phase = HTTP1__START;
}

void http1_response_init(struct http1_head *head, struct http1_field *fields,
                         unsigned max_fields, unsigned max_bytes,
                         enum http1_method asked, bool asked_upgrade)
{
    init(head, HTTP1__RESPONSE, fields, max_fields, max_bytes);
    head->phase = HTTP1__STATUS;
    head->asked = (uint8_t)asked;
    head->asked_upgrade = asked_upgrade;
}

void http1__trailer_init(struct http1_head *h)
{
    init(h, HTTP1__TRAILER, NULL, HTTP1_TRAILER_FIELDS, HTTP1_HEAD_BYTES);
    h->phase = HTTP1__NAME;
}

/* Positive when the empty line has been read. */
static int read_on(struct http1_head *h, const char *buf, size_t n)
{
    int rc = 1;

    if (h->phase < HTTP1__STATUS)
        rc = http1__request_line(h, buf, n);
    else if (h->phase < HTTP1__NAME)
        rc = http1__status_line(h, buf, n);
    return rc > 0 ? http1__lines(h, buf, n) : rc;
}

static int fail(struct http1_head *h, int rc)
{
    h->phase = HTTP1__FAILED;
    h->error = (int8_t)rc;
    return rc;
}

int http1_parse(struct http1_head *head, const char *buf, size_t len)
{
    size_t n = len < head->max_bytes ? len : head->max_bytes;
    int rc;

    if (head->phase == HTTP1__FAILED)
        return head->error;
    if (head->phase == HTTP1__DONE)
        return head->head_len;
    rc = read_on(head, buf, n);
    if (rc > 0 && head->sort != HTTP1__TRAILER)
        rc = http1__finish(head, buf);
    if (rc < 0)
        return fail(head, rc);
    if (head->phase == HTTP1__DONE)
        return head->head_len;
    return n == head->max_bytes ? fail(head, HTTP1_EHEAD) : 0;
}

const struct http1_field *http1_find(const struct http1_head *head,
                                     enum http1_id id)
{
    if (!http1_has(head, id) || !head->fields)
        return NULL;
    for (unsigned i = 0; i < head->n_fields; i++)
        if (head->fields[i].id == id)
            return &head->fields[i];
    return NULL;
}
