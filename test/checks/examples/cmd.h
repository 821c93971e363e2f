/* What the examples of cmd/ use and do not declare, header by header: see
 * "Examples in headers" in CONTRIBUTING.md. */

/* cmd/common/parent_env.h */
int64_t now_ns;
bide_call call;
bide_dep *dep;
bide_decision d;

/* cmd/fetch/secrets.h */
int argc;
char **argv;

/* cmd/proxy/watchdog.h */
struct bide__proxy_conf *conf;
struct proxy *proxy;
sigset_t set;

/* cmd/sim/chart.h */
struct sim_summary *summary;

/* cmd/sim/table_rows.h */
struct sim_summary *s;
