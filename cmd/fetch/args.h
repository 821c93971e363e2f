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
    bide_curl_tell tell;
    int64_t connect_timeout_ns, stall_timeout_ns;
    uint32_t parallel;
    bool remote_name, head, follow, insecure, silent, show_error, verbose, fail;
    bool explain, make_key;
    char **urls;
    size_t n_urls;
};

/* Takes a flag, for flags_parse(). */
const char *fetch_take(void *args, const char *name, const char *argument);

/* Checks the flags together and builds the policy. -1 to continue, else an exit
 * code; errors are printed. */
int fetch_settle(struct fetch_args *a);
void fetch_args_done(struct fetch_args *a);

#endif
