/* Values in the `proxy:` section that are more than a number or a text. Each
 * reader fills its part of the table's struct. */
#ifndef BIDE_CONFIG_PROXY_READ_H
#define BIDE_CONFIG_PROXY_READ_H

#include "config/proxy/conf.h"
#include "config/field/field.h"

#define BIDE__READER(name)                                                     \
    void name(struct bide__load *load, const struct bide__field *f,            \
              const struct bide__node *key, const struct bide__node *node,     \
              void *to)

BIDE__READER(bide__read_log);      /* a text at the row's offset; `off`: NULL */
BIDE__READER(bide__read_upstream); /* an index, there */
BIDE__READER(bide__read_policy);   /* a name, there */
BIDE__READER(bide__read_answers);  /* struct bide__proxy_health */
BIDE__READER(bide__read_clients);  /* struct bide__proxy_server_tls */

/* Where a log goes. */
#define BIDE__LOG_PATTERN "^(/.+|stdout|stderr|syslog(:/.+)?|off)$"
#define BIDE__LOG_EXPECTED                                                     \
    "a path that begins with `/`, stdout, stderr, syslog, syslog:PATH or off"

/* The tables of the optional parts of a route, and of telemetry. */
extern const struct bide__table bide__proxy_fallback_table;
extern const struct bide__table bide__proxy_fault_table;
extern const struct bide__table bide__proxy_priority_table;
extern const struct bide__table bide__proxy_idempotency_table;
extern const struct bide__table bide__proxy_admin_table;
extern const struct bide__table bide__proxy_telemetry_table;
extern const struct bide__table bide__worker_telemetry_table;

/* Whether texts are valid. */
bool bide__fits_path(const struct bide__node *text);
bool bide__fits_target(const struct bide__node *text); /* with a query */
bool bide__fits_service(const struct bide__node *text); /* gRPC's; or "*" */
bool bide__fits_account(const struct bide__node *text);
bool bide__fits_token(const struct bide__node *text);
bool bide__fits_grpc(const struct bide__node *text);
bool bide__fits_method(const struct bide__node *text);
bool bide__fits_host(const struct bide__node *text);
bool bide__fits_match_host(const struct bide__node *text);
bool bide__fits_field(const struct bide__node *text);

/* Check the keys of a map against each other. */
#define BIDE__CHECKER(name)                                                    \
    void name(struct bide__load *load, const struct bide__node *where,         \
              const struct bide__node *map, void *to)

BIDE__CHECKER(bide__check_proxy);
BIDE__CHECKER(bide__check_match);
BIDE__CHECKER(bide__check_route);
BIDE__CHECKER(bide__check_pool);
BIDE__CHECKER(bide__check_health);
BIDE__CHECKER(bide__check_server_tls);
BIDE__CHECKER(bide__check_pair);
BIDE__CHECKER(bide__check_limits);
BIDE__CHECKER(bide__check_fallback);
BIDE__CHECKER(bide__check_fault);

#endif
