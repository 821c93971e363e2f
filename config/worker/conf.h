/* config/worker/conf.h: `worker:` at the top level of a policy file: what `bide
 * worker` does, and where `bide enqueue` puts messages.
 *
 *   worker: { queue: mail, command: [./send, --fast] }
 *
 *   worker:
 *     broker: postgresql://bide@db.internal/jobs
 *     to: http://127.0.0.1:8080/jobs
 *     policy: jobs
 *
 * What the flags of `bide worker` say goes before it. */
#ifndef BIDE_CONFIG_WORKER_CONF_H
#define BIDE_CONFIG_WORKER_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/codes.h"
#include "bide/config.h"
#include "config/proxy/conf.h"

struct bide__load;
struct bide__node;
struct bide__proxy_address;

enum bide__worker_log {
    BIDE__WORKER_LOG_CHANGES,
    BIDE__WORKER_LOG_ATTEMPTS,
    BIDE__WORKER_LOG_OFF
};

/* Threads: immutable; lives as long as the config. */
struct bide__worker_settings {
    const char *queue;      /* "default" */
    const char *broker;     /* a URL; NULL: SQLite in the state folder */
    bool create;            /* although a similar name exists; false */
    const char *policy;     /* the name of one; NULL: the preset `queue` */
    const char *const *command; /* and NULL behind the last; NULL: none */
    const char *to;         /* a URL; NULL: none */
    uint32_t at_once;       /* 1 .. 1000; 0: as it suits the handler */
    struct bide__codes retry_on, stop_on;
    int64_t drain_ns;       /* 25 s */
    int64_t kill_after_ns;  /* 5 s */
    int64_t lease_ns;       /* 3 s .. 1 h; 30 s */
    bool until_empty;       /* false */
    const struct bide__proxy_address *admin; /* NULL: none */
    struct bide__proxy_telemetry telemetry;  /* but for its log */
    enum bide__worker_log log;
    bool log_json;          /* `log_format: json` */
};

#define BIDE__WORKER_SETTINGS_INIT                                             \
    {                                                                          \
        .queue = "default", .drain_ns = INT64_C(25000000000),                  \
        .kill_after_ns = INT64_C(5000000000),                                  \
        .lease_ns = INT64_C(30000000000),                                      \
        .telemetry.metrics_ns = INT64_C(10000000000)                           \
    }

extern const struct bide__table bide__worker_table;

/* Reads the section. */
void bide__load_worker(struct bide__load *load, const struct bide__node *key,
                       const struct bide__node *node);

/* What the file says; NULL: there is no `worker:`. */
const struct bide__worker_settings *
bide__config_worker(const bide_config *config);

#endif
