/* A program that uses libcurl; see program.h. */
#include "program.h"

#include <stdlib.h>
#include <string.h>

static size_t keep(char *to, size_t *len, const char *data, size_t n)
{
    if (*len + n < 8192) {
        memcpy(to + *len, data, n);
        to[*len + n] = '\0';
    }
    *len += n;
    return n;
}

static size_t on_body(char *data, size_t size, size_t n, void *ctx)
{
    struct program *p = ctx;
    p->bodies++;
    return keep(p->body, &p->body_len, data, size * n);
}

static size_t on_header(char *data, size_t size, size_t n, void *ctx)
{
    struct program *p = ctx;
    if (strncmp(data, "HTTP/", 5) == 0)
        p->heads++;
    return keep(p->head, &p->head_len, data, size * n);
}

static int on_progress(void *ctx, curl_off_t total, curl_off_t now,
                       curl_off_t up_total, curl_off_t up_now)
{
    (void)total, (void)now, (void)up_total, (void)up_now;
    struct program *p = ctx;
    p->progress++;
    return 0;
}

static int on_prereq(void *ctx, char *ip, char *local_ip, int port,
                     int local_port)
{
    (void)ip, (void)local_ip, (void)port, (void)local_port;
    struct program *p = ctx;
    p->prereqs++;
    return CURL_PREREQFUNC_OK;
}

static size_t on_read(char *to, size_t size, size_t n, void *ctx)
{
    struct program *p = ctx;
    size_t left = p->to_send - p->sent;
    size_t len = size * n < left ? size * n : left;
    memset(to, 'x', len);
    p->sent += len;
    return len;
}

static int on_seek(void *ctx, curl_off_t offset, int origin)
{
    struct program *p = ctx;
    if (origin != SEEK_SET)
        return CURL_SEEKFUNC_CANTSEEK;
    p->seeks++;
    p->sent = (size_t)offset;
    return CURL_SEEKFUNC_OK;
}

void program_init(struct program *p, const char *url)
{
    memset(p, 0, sizeof *p);
    p->easy = curl_easy_init();
    if (!p->easy)
        abort();
    p->headers = curl_slist_append(NULL, "Authorization: Bearer secret");
    p->headers = curl_slist_append(p->headers, "traceparent: " PROGRAM_TRACE);
    curl_easy_setopt(p->easy, CURLOPT_URL, url);
    curl_easy_setopt(p->easy, CURLOPT_HTTPHEADER, p->headers);
    curl_easy_setopt(p->easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(p->easy, CURLOPT_WRITEDATA, p);
    curl_easy_setopt(p->easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(p->easy, CURLOPT_HEADERDATA, p);
    curl_easy_setopt(p->easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(p->easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(p->easy, CURLOPT_XFERINFODATA, p);
    curl_easy_setopt(p->easy, CURLOPT_PREREQFUNCTION, on_prereq);
    curl_easy_setopt(p->easy, CURLOPT_PREREQDATA, p);
}

void program_post(struct program *p)
{
    curl_easy_setopt(p->easy, CURLOPT_POSTFIELDS, "pay=1");
}

void program_put(struct program *p, bool seeks)
{
    p->to_send = 1000;
    curl_easy_setopt(p->easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(p->easy, CURLOPT_INFILESIZE, 1000L);
    curl_easy_setopt(p->easy, CURLOPT_READFUNCTION, on_read);
    curl_easy_setopt(p->easy, CURLOPT_READDATA, p);
    if (!seeks)
        return;
    curl_easy_setopt(p->easy, CURLOPT_SEEKFUNCTION, on_seek);
    curl_easy_setopt(p->easy, CURLOPT_SEEKDATA, p);
}

void program_put_file(struct program *p, FILE *file)
{
    curl_easy_setopt(p->easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(p->easy, CURLOPT_READDATA, file);
}

void program_timeout(struct program *p, long ms)
{
    curl_easy_setopt(p->easy, CURLOPT_TIMEOUT_MS, ms);
}

CURLcode program_perform(struct program *p)
{
    return curl_easy_perform(p->easy);
}

void program_reset(struct program *p)
{
    curl_easy_reset(p->easy);
}

void program_copy(struct program *p)
{
    CURL *copy = curl_easy_duphandle(p->easy);
    curl_easy_cleanup(p->easy);
    p->easy = copy;
}

void program_done(struct program *p)
{
    curl_easy_cleanup(p->easy);
    curl_slist_free_all(p->headers);
}
