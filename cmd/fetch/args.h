/* bide fetch: its arguments. */
#ifndef BIDE_CMD_FETCH_ARGS_H
#define BIDE_CMD_FETCH_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/common/policy_choice.h"
#include "cmd/fetch/body.h"

enum {
    EXIT_HTTP = 22,    /* as curl -f */
    EXIT_REFUSED = 75, /* bide itself gave up */
};

/* Where to go on with a download. */
enum { CONTINUE_NOT = -1, CONTINUE_FILE = -2 };

struct fetch_args {
    struct policy_choice policy;

    /* the request */
    const char *method;         /* -X; NULL: what the rest implies */
    struct curl_slist *headers; /* -H */
    struct fetch_data data;
    bool get;                   /* -G: the data goes into the URL */
    struct curl_slist *forms;   /* -F; each begins with 'F', or 's' for a
                                   string */
    const char *upload;         /* -T; "-" is standard input */
    const char *agent;          /* -A; NULL: bide's */
    char *cookies;              /* -b; or NULL */
    struct curl_slist *cookie_files;
    const char *cookie_jar;
    char *range;         /* -r; or NULL */
    int64_t continue_at; /* a byte, or one of CONTINUE_... */
    bool compressed;

    /* the answer */
    const char **outputs;       /* -o, the nth for the nth URL */
    size_t n_outputs;
    const char *output_dir, *dump_header;
    char *write_out;
    bool remote_name, header_name, create_dirs, remote_time, include;

    /* the connection */
    const char *user, *proxy, *proxy_user, *no_proxy, *unix_socket;
    struct curl_slist *resolve;
    const char *cacert, *key;
    char *cert, *cert_password;
    long ip;            /* CURL_IPRESOLVE_... */
    long http_version;  /* CURL_HTTP_VERSION_...; 0: as libcurl likes */
    int64_t limit_rate; /* bytes a second; 0: none */
    bool netrc;
    int64_t connect_timeout_ns, stall_timeout_ns;
    bool max_time; /* -m has set the deadline */
    uint32_t parallel;

    const char *hedge;          /* as given */
    const char *log_file;       /* or NULL */
    bide_curl_tell tell;
    bool head, follow, insecure, silent, show_error, verbose, fail;
    bool explain, make_key, json;
    int config_depth; /* of files that name files, */
    char **texts;     /* which flags point into */
    size_t n_texts;
    char **urls;
    size_t n_urls;
};

/* Takes a flag, for flags_parse(). */
const char *fetch_take(void *args, const char *name, const char *argument);

/* Adds a URL behind those there are. False: out of memory. */
bool fetch_add_url(struct fetch_args *a, char *url);

/* Checks the flags together and builds the policy. -1 to continue, else an exit
 * code; errors are printed. */
int fetch_settle(struct fetch_args *a);
void fetch_args_done(struct fetch_args *a);

#endif
