/* What the examples of base/ use and do not declare, header by header: see
 * "Examples in headers" in CONTRIBUTING.md. */

/* base/arena.h */
const char *host;

/* base/date.h */
const char *text;
size_t len;
void handle(int64_t ns, bool whole);

/* base/balance.h */
void *me;
struct bide__servers_verbs my_verbs;
uint64_t word;
int64_t now;
bide_call permit;
bide_outcome outcome;

/* base/base64.h */
uint8_t digest[20];

/* base/hex.h */
uint8_t id[16];

/* base/json_text.h */
const char *text;
size_t len;
char c[BIDE__JSON_CHAR];
void put(const char *bytes, size_t n);

/* base/out.h */
uint64_t n;

/* base/queue_pace.h */
uint32_t running;
int64_t now_ns, started_ns;
bide_rng rng;

/* base/queue_verdict.h */
bide_call call;
bide_outcome outcome;
const bide_policy_conf *policy;
enum queue_probe probe;
int64_t now_ns;

/* base/utf8.h */
const char *text;
size_t len;

/* base/module.h */
void die(const char *text);
struct net_tls_module;

/* base/codes.h */
int status;
