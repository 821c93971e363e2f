/* What the examples of observe/ use and do not declare, header by header: see
 * "Examples in headers" in CONTRIBUTING.md. */

/* observe/admin/admin.h */
struct bide__source source;
struct bide__collector *collector;

/* observe/admin/condition.h */
struct bide__view view;
const struct bide__observed *observed;

/* observe/admin/ideal.h */
bide_policy_conf *conf;
bide_stats stats;

/* observe/admin/view.h */
struct bide__out out;
struct bide__view view;

/* observe/event/collector.h */
struct bide__source source;
struct bide__log log;

/* observe/event/event.h */
struct bide__ring *ring;
uint32_t attempt;
bide_reason why;
bide_outcome outcome;
bide_decision decision;
bide_verdict verdict;
int64_t begin_ns, end_ns;

/* observe/event/history.h */
struct bide__history history;
struct bide__observed observed;
int64_t now_ns;

/* observe/event/journal.h */
struct bide__journal journal;
struct bide__event event;

/* observe/event/log.h */
struct bide__lines *lines;
struct bide__event event;
int64_t wall_offset_ns, now_ns;

/* observe/event/observed.h */
bide_dep *dep;
struct bide__out out;

/* observe/event/ring.h */
struct bide__ring *ring;
void fill(struct bide__event *e);

/* observe/event/sink.h */
char why[256];
size_t n_workers;
size_t write_line(char *to);

/* observe/event/source.h */
struct proxy *proxy;

/* observe/event/traceparent.h */
const char *value;
size_t len;
struct bide__ids ids;
bool sampled;
char header[BIDE__TRACEPARENT + 1];

/* observe/event/wall.h */
int64_t event_ns;

/* observe/export/exporter.h */
struct bide__exporter *exporter;
struct bide__event *events;
size_t n;

/* observe/export/metrics.h */
struct bide__observed observed;
struct bide__out out;
int64_t now_ns;

/* observe/export/otlp.h */
struct bide__out out;
struct bide__event *events;
size_t n;
int64_t wall, mono;

/* observe/export/otlp_known.h */
struct bide__event *event;
struct bide__otlp_known *known;
const char *what_was_written;
size_t method_len, len;
void use(const char *data, size_t len);

/* observe/export/otlp_plain.h */
struct bide__out *out;
struct bide__event *event;
struct bide__known_part *part;
const char *path;
size_t path_len;
int64_t offset_ns;

/* observe/export/otlp_writer.h */
struct bide__out out;
uint64_t t;

/* observe/export/post.h */
bide_dep *dep;
bide_cancel cancel;
const char *type;
char *data;
size_t len;
int64_t timeout_ns;

/* observe/export/prometheus.h */
struct bide__observed observed;
int fd;
