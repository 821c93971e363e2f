/* What the examples of cmd/ use and do not declare, header by header: see
 * "Examples in headers" in CONTRIBUTING.md. */

/* cmd/proxy/watchdog.h */
struct bide__proxy_conf *conf;
struct proxy *proxy;
sigset_t set;

/* cmd/sim/chart.h */
struct sim_summary *summary;

/* cmd/sim/table_rows.h */
struct sim_summary *s;
