/* What the examples of proxy/ use and do not declare, header by header: see
 * "Examples in headers" in CONTRIBUTING.md. */

/* proxy/access_line.h */
struct access_time now;
struct exchange *ex;
struct text t;

/* proxy/back/health.h */
struct worker *worker;
struct endpoint *endpoint;

/* proxy/back/health_http2.h */
struct worker *worker;
struct net_address address;
int64_t until_ns;
bool connected(struct health_http2 *g);
void done(struct health_http2 *g);

/* proxy/back/knock.h */
struct worker *worker;
struct endpoint *endpoint;

/* proxy/back/link_http2.h */
struct link *l;
struct pool *pool;
struct attempt *a;
void fail(struct link *l);

/* proxy/back/pool.h */
struct pool *pool;
struct attempt *a;
bool careful;

/* proxy/back/resolver.h */
struct proxy *proxy;

/* proxy/counters.h */
struct worker *worker;
struct pool *pool;

/* proxy/dep_memory.h */
int fd;
unsigned seat;
uint32_t others;
struct dep_block block;
bide_dep *dep;
bide_policy_conf *policy;
bide_host host;

/* proxy/exchange/events.h */
struct exchange *ex;
struct attempt *a;
bide_outcome outcome;
bide_decision d;

/* proxy/exchange/hops.h */
struct exchange *ex;
struct text text;

/* proxy/exchange/pace.h */
struct pace p;
int64_t grace_ns, now_ns;
uint64_t n;
uint32_t rate;
void too_slow(void);

/* proxy/exchange/stale.h */
struct stale_shape shape;
size_t body_room, key_len;
const char *key;
void *ctx;
bool fits(const struct stale_copy *c, const void *ctx);

/* proxy/exchange/text.h */
struct net_buf *buf;
void refuse(void);

/* proxy/front/listen.h */
struct proxy *proxy;
struct bide__proxy_conf *conf, *new_conf;
char err[256];
unsigned worker;
size_t i;

/* proxy/front/per_client.h */
struct per_client *t;
uint8_t address[16];
unsigned len;
uint32_t most;
double rate;
int64_t now;
void refuse(void);

/* proxy/front/turn_away.h */
struct worker *worker;
int fd;

/* proxy/generation.h */
struct bide__proxy_conf *conf, *new_conf;
bide_config *config, *new_config;
unsigned n_workers;
struct proxy_hooks hooks;
struct http1_head *head;
const char *buf;
char err[256];

/* proxy/hooks.h */
bide_config *config;
struct bide__proxy_conf *conf;
char err[256];

/* proxy/kept.h */
struct kept *kept;
struct net_address address;
int flags;

/* proxy/once/blob.h */
#include "bide/store.h"
bide_store_op *op;
void reply(int status, const char *lines, const void *body);

/* proxy/once/key.h */
#include "proxy/exchange/exchange.h"
struct exchange *ex;
const char *bytes;

/* proxy/once/record.h */
struct attempt *a;
const char *data;
size_t len;

/* proxy/proxy.h */
bide_config *config;
struct bide__proxy_conf *conf;
struct proxy_hooks hooks;
char err[256];
void die(const char *why);

/* proxy/pulse.h */
struct proxy *proxy;

/* proxy/telemetry.h */
struct proxy_telemetry telemetry;

/* proxy/worker.h */
struct proxy *proxy;
char err[256];
