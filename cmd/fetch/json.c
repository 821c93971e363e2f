/* Writes the result of a fetch as JSON (--json). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "cmd/fetch/args.h"
#include "cmd/fetch/fetch.h"
#include "cmd/fetch/progress.h"
#include "cmd/fetch/transfer.h"

static FILE *open_summary(const char *where)
{
    FILE *out;
    int fd;

    if (strcmp(where, "-") != 0 &&
        strspn(where, "0123456789") != strlen(where))
        return fopen(where, "we");
    fd = dup(strcmp(where, "-") == 0 ? STDOUT_FILENO : atoi(where));
    out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out && fd >= 0)
        close(fd);
    return out;
}

static void put_text(struct bide__json *j, const char *key, const char *text)
{
    if (text && *text)
        bide__json_text(j, key, text);
    else
        bide__json_null(j, key);
}

static void put_transfer(struct bide__json *j, const struct fetch_transfer *t)
{
    const bide_curl_result *r = &t->result;
    const char *error = t->os_error ? strerror(t->os_error)
                        : t->error[0] ? t->error
                                      : curl_easy_strerror(r->code);

    bide__json_object(j, NULL);
    bide__json_text(j, "url", t->url);
    put_text(j, "file", t->output);
    if (r->status)
        bide__json_integer(j, "status", r->status);
    else
        bide__json_null(j, "status");
    bide__json_text(j, "reason", bide_reason_name(r->reason));
    put_text(j, "class", r->attempts ? bide_class_name(r->last.cls) : NULL);
    bide__json_integer(j, "attempts", r->attempts);
    bide__json_integer(j, "bytes", (int64_t)t->now);
    if (t->resume.saved > 0)
        bide__json_integer(j, "resumed_at", (int64_t)t->resume.saved);
    else
        bide__json_null(j, "resumed_at");
    bide__json_integer(j, "curl_code", (int64_t)r->code);
    put_text(j, "error", r->code == CURLE_OK ? NULL : error);
    put_text(j, "idempotency_key", r->key);
    bide__json_number(j, "took_ms", (double)(t->took_ns / 1000) / 1e3);
    bide__json_integer(j, "exit", t->exit);
    bide__json_end(j);
}

bool fetch_json(const struct fetch *f, int exit)
{
    FILE *out = open_summary(f->args->log_file ? f->args->log_file : "2");
    struct bide__json j;
    bool fine;

    if (!out)
        return false;
    bide__json_init(&j, out, true);
    bide__json_object(&j, NULL);
    bide__json_integer(&j, "exit", exit);
    bide__json_integer(&j, "failed", (int64_t)f->failed);
    bide__json_list(&j, "transfers");
    for (size_t i = 0; i < f->n; i++)
        put_transfer(&j, &f->transfers[i]);
    bide__json_end(&j);
    bide__json_end(&j);
    bide__json_done(&j);
    fine = ferror(out) == 0;
    return fclose(out) == 0 && fine;
}
