/* `bide fetch` in parts: what is asked (args.c reads the flags,
 * body.c what is to be sent), what libcurl is told (request.c), one
 * URL from beginning to end (transfer.c), where its answer goes
 * (sink.c) and how a broken one is gone on with (resume.c), all of
 * them together (loop.c), and what is told about it (tell.c,
 * bar.c, json.c). */
#ifndef BIDE_CMD_FETCH_FETCH_H
#define BIDE_CMD_FETCH_FETCH_H

#include <sys/types.h>

#include "bide/curl.h"
#include "cmd/common/cli.h"

enum {
    EXIT_HTTP = 22,    /* as curl -f */
    EXIT_REFUSED = 75, /* bide itself gave it up */
};

/* ===== args.c: what is asked ===== */

/* A body that was given with -d, as it is sent. */
struct fetch_data {
    char *at;
    size_t len;
    bool given;
};

struct fetch_args {
    struct policy_choice policy;
    const char *method;         /* -X; NULL: what the rest implies */
    struct curl_slist *headers; /* -H */
    struct fetch_data data;
    const char *upload;         /* -T; "-" is standard input */
    const char **outputs;       /* -o, the nth for the nth URL */
    size_t n_outputs;
    const char *cacert;
    char *user;                 /* -u, a copy: argv can be seen by all */
    const char *hedge;          /* as given */
    const char *json;
    int64_t connect_timeout_ns, stall_timeout_ns;
    size_t parallel;
    bool remote_name, head, follow, insecure, silent, show_error, verbose, fail;
    bool explain, make_key;
    char **urls;
    size_t n_urls;
};

/* Takes a flag, for flags_parse(). */
const char *fetch_take(void *args, const char *name, const char *argument);

/* Checks what the flags come to together, and puts the policy together. -1 to
 * go on, else an exit code; mistakes are printed. */
int fetch_settle(struct fetch_args *a);
void fetch_args_done(struct fetch_args *a);

/* ===== body.c: what is sent ===== */

/* Adds to what -d has collected; `binary`: as it is. NULL, or what was
 * expected. */
const char *fetch_data_add(struct fetch_data *d, const char *text, bool binary);

/* A file that is read from its beginning for each attempt. */
struct fetch_upload {
    int fd; /* shared: it is read by position */
    off_t size, at;
};

/* Opens what -T names; standard input is copied first, so that it can be sent
 * again. False, and errno. */
bool fetch_upload_open(struct fetch_upload *u, const char *path);
void fetch_upload_options(struct fetch_upload *u, CURL *easy);
bool fetch_upload_rewind(void *upload);

/* ===== sink.c: where an answer goes ===== */

enum fetch_sink_kind {
    SINK_FILE,   /* NAME.part, which becomes NAME if all went well */
    SINK_SPOOL,  /* a nameless file, to be printed when its turn has come */
    SINK_STREAM, /* written as it comes, and not to be taken back */
};

struct fetch_sink {
    enum fetch_sink_kind kind;
    int fd;              /* -1: not open */
    char *name, *part;   /* of a file */
    off_t size;          /* so far */
};

/* Opens a sink; `name` NULL is standard output. False, and errno. */
bool fetch_sink_open(struct fetch_sink *s, const char *name, bool spool);
bool fetch_sink_write(struct fetch_sink *s, const char *data, size_t len);

/* The byte at a place, or -1. */
int fetch_sink_byte(const struct fetch_sink *s, off_t at);

/* Drops all of it; false if that cannot be done. */
bool fetch_sink_empty(struct fetch_sink *s);

/* Ends it well (the file gets its name; a spool is printed) or not. False, and
 * errno. */
bool fetch_sink_keep(struct fetch_sink *s);
void fetch_sink_drop(struct fetch_sink *s);

/* ===== resume.c: going on with a broken download ===== */

/* What the header of an answer says. */
struct fetch_head {
    long status;
    char etag[256], modified[40], date[40];
    long long length;                  /* Content-Length; -1: not said, ... */
    long long range_first, range_size; /* ... as with those of Content-Range */
};

struct fetch_resume {
    bool possible;        /* it is a plain GET */
    bool asked;           /* this attempt asks for a rest */
    bool distrusted;      /* the rest did not fit: start over */
    off_t from;           /* of the rest: one byte before what is missing */
    off_t saved;          /* where it went on the last time; 0: it did not */
    long long size;       /* of the whole; -1: not known */
    struct fetch_head head;   /* of the answer that comes in */
    char validator[256];  /* of the answer that is being collected; or "" */
    char field[300];      /* "If-Range: ..." */
    char range[40];
    struct curl_slist *node;  /* that holds `field`, in the request's header */
};

void fetch_head_line(struct fetch_head *h, const char *line, size_t len);

/* An answer broke off: ask for the rest, or, if the sink can be emptied, for
 * all of it. False: neither can be done. */
bool fetch_resume_prepare(struct fetch_resume *r, struct fetch_sink *s,
                          CURL *easy);
void fetch_resume_cancel(struct fetch_resume *r, CURL *easy);

/* The body of an answer begins. Gives how many bytes of it are there already;
 * -1: it is not what was asked for. */
int fetch_resume_begin(struct fetch_resume *r, struct fetch_sink *s,
                       char first);

/* An answer is complete, but it may have had no body, or have been only a part
 * of the rest. False: what is there is not what it should be. */
bool fetch_resume_end(struct fetch_resume *r, struct fetch_sink *s,
                      bool has_body);

/* ===== transfer.c: one URL ===== */

struct fetch;

enum fetch_state { FETCH_QUEUED, FETCH_RUNNING, FETCH_WAITING, FETCH_ENDED };

struct fetch_transfer {
    struct fetch *all;
    size_t index;            /* of the URL */
    const char *url, *label; /* the label is short */
    const char *output;      /* NULL: standard output */
    char *own_url, *own_output; /* to be freed */
    CURL *easy;
    bide_dep *dep;
    bide_rng_seeded random;
    bide_rng rng;
    struct curl_slist *headers;
    struct fetch_upload upload;
    struct fetch_sink sink;
    struct fetch_resume resume;
    bide_curl_result result;
    char error[CURL_ERROR_SIZE];
    int os_error;            /* why it could not be written; 0 */
    int exit;                /* code, once it has ended */
    enum fetch_state state;
    bool body_begun;         /* of this answer */
    bool over;               /* no attempt follows: what comes is the answer */
    bool unwanted;           /* ... but nobody wants it */
    int64_t began_ns, took_ns;
    int64_t wait_until_ns;
    uint32_t attempt;
    off_t now, total;        /* bytes of the body; total 0: not known */
};

/* Opens the output and begins. False: it has ended already. */
bool fetch_transfer_begin(struct fetch_transfer *t);
void fetch_transfer_done(struct fetch_transfer *t);

/* The method that a request has by its flags. */
const char *fetch_method(const struct fetch_args *a);

/* ===== request.c: what libcurl is told ===== */

/* Makes the handle and the header. False: no memory. */
bool fetch_request_make(struct fetch_transfer *t);

/* What the engine is to know of it. */
bide_op fetch_op(struct fetch_transfer *t);

/* The part of a URL that can fail by itself: "https://host:443". In `buffer`;
 * false if it is no URL. */
bool fetch_origin(const char *url, char *buffer, size_t size);

/* The last part of a URL's path, to be freed; NULL if there is none that can be
 * the name of a file. */
char *fetch_remote_name(const char *url);

/* The URL that a file is uploaded to: one that ends with a slash gets its name.
 * To be freed. */
char *fetch_upload_url(const char *url, const char *path);

/* ===== loop.c: all of them ===== */

struct fetch_dep {
    char origin[300];
    bide_dep *dep;
};

struct fetch {
    const struct fetch_args *args;
    bide_curl_multi *multi;
    struct fetch_transfer *transfers;
    size_t n, next, printed;  /* next to be begun; to be printed */
    size_t running, ended, failed;
    struct fetch_dep *deps;
    size_t n_deps;
    struct fetch_upload upload;
    bool bar;                 /* progress is shown */
    bool bar_drawn;
    bool beginning;           /* begin_more() runs */
    bool quiet;               /* nothing more is told */
    double rate;              /* bytes a second, smoothed */
    off_t rate_bytes;         /* when it was last looked at, */
    int64_t rate_ns;          /* at this time */
    off_t finished_bytes;
    int64_t began_ns;
};

int fetch_loop(const struct fetch_args *args);

/* A transfer has ended: the next one may begin, and be printed. */
void fetch_ended(struct fetch_transfer *t);

/* ===== tell.c, bar.c, json.c: what is told ===== */

/* Prints a decision, for --explain. */
void fetch_explain(struct fetch_transfer *t, const bide_decision *d,
                   const bide_outcome *last, int64_t now);

/* ... and that the rest of a broken download was not what was asked for. */
void fetch_explain_start_over(struct fetch_transfer *t);

/* Says why a transfer failed, unless -s. */
void fetch_tell_failure(struct fetch_transfer *t);

/* "503", "connection refused": what the last attempt came to. */
const char *fetch_what(const bide_outcome *last, char *buffer, size_t size);

bool fetch_bar_wanted(const struct fetch_args *a);
void fetch_bar_draw(struct fetch *f);
void fetch_bar_clear(struct fetch *f);
/* A line that stays, for a download that is complete. */
void fetch_bar_keep(struct fetch_transfer *t);

/* Writes the summary. False, and errno. */
bool fetch_json(const struct fetch *f, int exit);

#endif
