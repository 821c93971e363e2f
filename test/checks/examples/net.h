/* What the examples of net/ use and do not declare, header by header: see
 * "Examples in headers" in CONTRIBUTING.md. */

/* net/buf.h */
int fd;
uint32_t used;

/* net/conn.h */
struct net_conn *conn;
char *buf;
size_t size;
void hang_up(struct net_conn *conn);

/* net/http/client.h */
struct net_address address;
struct net_loop *loop;
struct http_client c;
struct http_request r;
void on_done(struct http_client *c);
void use(int status, const char *body, size_t len);
void failed(bide_fault fault);

/* net/http/server.h */
struct net_loop loop;
int fd;

/* net/http1/body.h */
char *buf;
size_t len, at;
struct http1_body body;
struct http1_piece piece;
int refuse(int status, const char *text);
void use(const char *data, size_t len);

/* net/http1/head.h */
char *buf;
size_t len;
struct http1_body body;
int refuse(int status, const char *text);
size_t read_more(char *to);

/* net/http1/media.h */
struct http1_head head;
const char *text;
void read_status(void);

/* net/http2/conn.h */
struct request {
    struct http2_stream stream;
};
struct request *request_new(const char *text, const struct http1_head *head);
struct http2_stream *s;
struct http2_shared shared;
struct http2_conf conf;
struct iovec iov[HTTP2_IOV];
char *buf;
size_t len;
int fd, n;
int64_t now_ns;
void hang_up_when_sent(struct http2_conn *c);

/* net/http2/drain.h */
struct http2_conn c;
struct net_loop *loop;
struct net_timer timer;
int64_t now_ns;
void hang_up_when_sent(struct http2_conn *c);

/* net/http2/error.h */
void log_line(const char *format, ...);

/* net/http2/put.h */
struct http2_stream *s;
const char *text;
size_t len;
void hang_up(struct http2_conn *c);

/* net/http2/receive.h */
struct http2_conn c;
struct net_conn *conn;
char *buf;
size_t size;
int64_t now_ns;
void hang_up_when_sent(struct http2_conn *c);

/* net/http2/send.h */
struct http2_conn c;
struct net_conn *conn;

/* net/line.h */
int fd;

/* net/lookup.h */
int64_t until_ns;
void use(const char *host, const struct net_addresses *found);

/* net/loop.h */
struct conn {
    struct net_io io;
    struct net_timer timer;
} *conn;
int fd;
bool stop;
void die(int err);
void on_ready(struct net_io *io, unsigned events);

/* net/privileges.h */
char err[256];
void die(const char *why);

/* net/proxy_protocol.h */
char *bytes, *text;
size_t len;
struct net_address client, here;
void client_is(const struct net_address *address);

/* net/resolve.h */
const char *why;
void die(const char *why);
void use(const struct net_address *address);

/* net/systemd.h */
int first;

/* net/tls.h */
char *err;
size_t size;
struct net_conn *conn;
int rc;
const char *why;
void wait_for(struct net_conn *conn);

/* net/stream/mux.h */
struct client {
    struct net_conn conn;
} *c;
struct mux_shared *shared;
struct http2_conf conf;
struct mux_calls calls;
const void *bytes;
size_t n;

/* net/stream/stream.h */
struct client {
    struct net_conn conn;
} *client;
struct iovec *iov;
char *buf;
size_t size;
