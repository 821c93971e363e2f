/* What the examples of store/ use and do not declare, header by header: see
 * "Examples in headers" in CONTRIBUTING.md. */

/* store/fleet/script.h */
struct redis *r;
struct redis_script script;
const char *id;
bide_share_rule rule;
bide_share_row row;
bide_share share;
bide_share_reply said;
struct redis_reply reply;
int64_t until_ns, now_ns;

/* store/redis/redis.h */
#define MS INT64_C(1000000)
struct redis_url url;
int64_t now;
const char *key;
size_t key_len;
void use(const struct redis_reply *reply);
void say(const char *text);

/* store/redis/resp.h */
const char *data;
size_t len;
struct bide__arena *arena;
void use(const struct redis_reply *reply);

/* store/redis/url.h */
void die(const char *text);
void say(const char *text);

/* store/kind.h */
struct bide__store_setup setup;
char why[256];
bide_store_op *ops[4];
size_t n;

/* store/rule.h */
bide_store_op *op;
uint64_t limit, total, used;
int64_t now_ns;
bool find(bide_store_op *op, struct bide__store_record *ret);
void put(bide_store_op *op, const struct bide__store_record *record);
void change(bide_store_op *op, const struct bide__store_record *record);
void drop(bide_store_op *op);

/* store/clock.h */
struct bide__store_setup setup;
int64_t last_ns;

/* store/batch.h */
int read_slots(void *self, struct bide__batch *batch,
               struct bide__slot *const slots[], size_t n);
int write_slots(void *self, struct bide__batch *batch,
                struct bide__slot *const slots[], size_t n);
struct bide__store_setup { uint64_t limit_bytes; } *setup;
bide_store_op *ops[4];
size_t n;
int rc;
void *self;

/* store/postgresql/pg.h */
#define MS INT64_C(1000000)
const char *url, *key;
size_t key_len;
int64_t now;
void say(const char *text);
void use(const char *value);
char *PQgetvalue(const PGresult *r, int row, int column);
void PQclear(PGresult *r);

/* store/postgresql/args.h */
int64_t limit;
struct { const void *data; size_t len; } keys[4];
size_t n_keys;

/* store/redis/records/codec.h */
const char *value;
size_t len;
struct bide__out out;
struct bide__slot *slot;
uint8_t id[32];
uint64_t bytes;
const char *room;
