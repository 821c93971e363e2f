/* bide worker: what was asked for, and whether the queue suits it. */
#ifndef BIDE_CMD_WORKER_WORKER_H
#define BIDE_CMD_WORKER_WORKER_H

#include "base/codes.h"
#include "cmd/common/fleet.h"
#include "cmd/common/policy_choice.h"
#include "cmd/worker/place.h"
#include "config/proxy/conf.h"

struct worker_args {
    struct queue_place place;
    struct policy_choice policy;
    char **command;          /* NULL: none */
    const char *to;          /* a URL; NULL: none */
    uint32_t at_once;        /* 0: as it suits the handler */
    struct bide__codes retry_on, stop_on;
    int64_t drain_ns, kill_after_ns; /* negative: no flag says it */
    const char *admin;       /* an address; NULL: none */
    char admin_port[24];     /* that address, where only a port was given */
    struct fleet_flag fleet; /* .settings.store NULL: what the file says */
    const char *otlp;        /* a URL; NULL: none */
    double sample;           /* of messages without a traceparent; negative: no
                                flag says it */
    struct bide__proxy_telemetry telemetry; /* the file's, and these two */
    bool until_empty, quiet, verbose, json;
    bool timeout_stated;     /* the policy of the file has an attempt_timeout */
};

/* Runs until it is told to stop. An exit code. */
int worker_run(struct worker_args *args);

/* What every start checks, and `bide worker check` prints: with `all`, also what is
 * fine. Whether nothing would be lost. */
struct broker;
bool worker_check(struct broker *b, const struct worker_args *args,
                  uint32_t at_once, bool all);

/* The subcommand `check`: argv[0] is its name. An exit code. */
int worker_check_command(int argc, char **argv, const struct worker_args *args);

#endif
