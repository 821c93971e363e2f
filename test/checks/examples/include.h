/* What the examples of include/bide/ use and do not declare, header by header: see
 * "Examples in headers" in CONTRIBUTING.md. */

/* include/bide/backoff.h */
bide_rng rng;

/* include/bide/call.h */
bide_dep *dep;
int64_t now;
int64_t wait_until(int64_t at_ns);
int64_t clock_ns(void);
bide_outcome try_it(int64_t timeout_ns);

/* include/bide/config.h */
bide_dep *dep;

/* include/bide/curl.h */
bide_dep *dep;
CURL *easy;

/* include/bide/curl_record.h */
CURL *easy;

/* include/bide/dep.h */
bide_policy_conf conf;
void die(const char *why);

/* include/bide/error.h */
bide_dep *dep;
bide_policy_conf conf;

/* include/bide/claim.h */
bide_header headers[8];
size_t n;
int64_t wall_ms, now;
bide_op op;
bide_call call;
bide_dep *dep;
bide_decision d;

/* include/bide/fleet.h */
bide_dep *dep;
void die(const char *why);

/* include/bide/hint.h */
bide_header headers[8];
size_t n;
int64_t wall_s;

/* include/bide/observe.h */
bide_dep *dep;
void die(const char *why);

/* include/bide/outcome.h */
bide_dep *dep;
bide_call call;
bide_decision d;
int64_t now;
bide_header h[8];
size_t n;
int rc;

/* include/bide/policy.h */
bide_dep *dep;
void die(const char *why);

/* include/bide/run.h */
bide_dep *dep;
struct query *q;
int query(void *arg, int64_t timeout_ns);

/* include/bide/state.h */
bide_dep *dep, *old;
bide_policy_conf conf;
int64_t now_ns;

/* include/bide/stats.h */
bide_dep *dep;
int64_t now;

/* include/bide/store.h */
void die(const char *why);
char *body;
size_t body_len;
const char *answer;
size_t answer_len;
void reply(int status, const void *data, size_t len);
void refuse(const char *why);
bide_store_op *op;
bide_store *store;
void poll_for_reading(int fd);
void resume(void *tag, bide_store_result result);

/* include/bide/share.h */
bide_dep *dep;
int64_t now_ns;
bool ask_the_ledger(const bide_share_row *row, bide_share_reply *reply);

/* include/bide/queue.h */
void die(const char *why);
