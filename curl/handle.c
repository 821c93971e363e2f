/* The application's handle: its functions, headers and timeouts, which ours
 * stand in for during a call. */
#include "curl/handle.h"

#include <stdio.h>

#include "bide/policy.h"
#include "curl/answer.h"
#include "curl/request.h"
#include "curl/transfer.h"

/* ===== files, as libcurl uses them without a function ===== */

static size_t write_file(char *data, size_t size, size_t n, void *file)
{
    return fwrite(data, size, n, file);
}

static bool seek_file(void *file, long long offset)
{
    return offset >= 0 && fseeko(file, (off_t)offset, SEEK_SET) == 0;
}

/* ===== taking ===== */

static void take_response(struct bide__handle *h, const bide_curl_opts *o)
{
    const struct bide__set *was = &h->was;
    bool all = h->recorded || o->plain_handle;
    h->takes_body = all || o->write || o->write_ctx;
    h->takes_head = all || o->header;
    h->write = o->write;
    h->write_ctx = o->write_ctx;
    if (!o->write && !o->write_ctx) {
        h->write = was->write;
        h->write_ctx = was->write_ctx;
    }
    if (!h->write)
        h->write = write_file;
    h->header = o->header ? o->header : was->header;
    h->header_ctx = o->header ? o->header_ctx : was->header_ctx;
    if (!h->header && h->header_ctx) /* as libcurl does */
        h->header = was->write ? was->write : write_file;
}

void bide__handle_take(struct bide__handle *h, CURL *easy,
                       const bide_curl_opts *o)
{
    const struct bide__set *set = bide__set_of(easy);
    h->recorded = set != NULL;
    h->was = set ? *set : bide__set_new();
    if (!set)
        h->was.headers = o->headers;
    take_response(h, o);
    h->takes_headers = h->recorded || o->plain_handle || o->headers;
    h->headers = o->headers ? o->headers : h->was.headers;
    h->reads = h->was.read || (h->was.read_ctx && h->was.read_ctx != stdin);
    if (h->reads && !h->was.read)
        h->read_from = ftello(h->was.read_ctx);
}

/* ===== the request's body ===== */

static size_t read_body(char *data, size_t size, size_t n, void *transfer)
{
    struct bide__transfer *t = transfer;
    const struct bide__set *was = &t->call->handle.was;
    t->has_read = true;
    if (was->read)
        return was->read(data, size, n, was->read_ctx);
    return fread(data, size, n, was->read_ctx);
}

/* libcurl rewinds a file by itself, for a redirect or a login, but only where it
 * reads the file itself. */
static int seek_body(void *handle, curl_off_t offset, int origin)
{
    const struct bide__handle *h = handle;
    bool sought = origin == SEEK_SET && h->read_from >= 0 &&
                  seek_file(h->was.read_ctx, h->read_from + offset);
    return sought ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_CANTSEEK;
}

bool bide__handle_rewind(const struct bide__handle *h, struct bide__transfer *t)
{
    if (!t->has_read)
        return true;
    if (h->was.seek)
        return h->was.seek(h->was.seek_ctx, 0, SEEK_SET) == CURL_SEEKFUNC_OK;
    return !h->was.read && seek_file(h->was.read_ctx, h->read_from);
}

/* ===== setting ===== */

void bide__handle_set(const struct bide__handle *h, CURL *easy,
                      struct bide__transfer *t)
{
    if (h->takes_body) {
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, bide__answer_write);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
    }
    if (h->takes_head) {
        curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, bide__answer_header);
        curl_easy_setopt(easy, CURLOPT_HEADERDATA, t);
    }
    if (h->reads) {
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, read_body);
        curl_easy_setopt(easy, CURLOPT_READDATA, t);
    }
    if (h->reads && !h->was.read && !h->was.seek) {
        curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, seek_body);
        curl_easy_setopt(easy, CURLOPT_SEEKDATA, h);
    }
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, bide__request_ready);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, t);
}

int64_t bide__handle_timeout(const struct bide__handle *h, int64_t timeout_ns)
{
    int64_t own = h->was.timeout_ms;
    if (own <= 0 || own > INT64_MAX / BIDE_MILLISECOND ||
        own * BIDE_MILLISECOND > timeout_ns)
        return timeout_ns;
    return own * BIDE_MILLISECOND;
}

/* ===== giving back ===== */

static void give_back_response(const struct bide__handle *h, CURL *easy)
{
    const struct bide__set *was = &h->was;
    if (h->takes_body) {
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, was->write);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, was->write_ctx);
    }
    if (h->takes_head) {
        curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, was->header);
        curl_easy_setopt(easy, CURLOPT_HEADERDATA, was->header_ctx);
    }
}

static void give_back_request(const struct bide__handle *h, CURL *easy)
{
    const struct bide__set *was = &h->was;
    if (h->takes_headers)
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, was->headers);
    if (h->reads) {
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, was->read);
        curl_easy_setopt(easy, CURLOPT_READDATA, was->read_ctx);
    }
    if (h->reads && !was->read && !was->seek) {
        curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, NULL);
        curl_easy_setopt(easy, CURLOPT_SEEKDATA, was->seek_ctx);
    }
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, was->prereq);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, was->prereq_ctx);
}

void bide__handle_give_back(const struct bide__handle *h, CURL *easy,
                            long timeout_ms)
{
    give_back_response(h, easy);
    give_back_request(h, easy);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout_ms);
}
