/* What the examples of cmd/ use and do not declare, header by header: see
 * "Examples in headers" in CONTRIBUTING.md. */

/* cmd/common/fleet.h */
bide_config *config;
bide_dep *dep;
char err[100];
int fail(const char *err);

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

/* cmd/worker/admin.h */
const struct bide__proxy_telemetry telemetry;
const char *queue;
bide_dep *dep;
struct broker_counts counts;
const struct queue_stats *stats;
char why[256];

/* cmd/worker/trace.h */
struct bide__collector *collector;
struct queue_job *job;
const struct queue_event *event;

/* cmd/proxy/records.h */
bide_config *config;
struct bide__proxy_conf *conf;
struct proxy_hooks *hooks;
void die(const char *why);

/* cmd/proxy/taken.h */
struct bide__proxy_conf *conf;
