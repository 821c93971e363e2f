/* Memory runs out at the nth allocation of a sidecar, for every n.
 *
 * One scenario is played again and again: it starts, serves requests (a retry, a
 * hedge, a body, fallbacks), checks health, reloads, opens its log again, stops.
 * Each time one allocation more succeeds, until all do. Whatever fails, either
 * it says "no memory" and nothing has begun, or all stays as it was; clients hear
 * what they would have heard, or a refusal; and nothing leaks, be it memory (a
 * sanitizer sees to that) or a descriptor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <sched.h>

#include "config/proxy/conf.h"
#include "proxy/proxy.h"

#include "../failing_alloc.h"
#include "origin.h"

char *__real_strdup(const char *text);
void *__real_aligned_alloc(size_t to, size_t size);
char *__wrap_strdup(const char *text);
void *__wrap_aligned_alloc(size_t to, size_t size);

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

void *__wrap_aligned_alloc(size_t to, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(to, size);
}

/* ===== the sidecar ===== */

static char dir[] = "/tmp/bide-alloc-XXXXXX";

static bide_config *read_conf(const char *log, const char *listen,
                              unsigned idle,
                              const struct bide__proxy_conf **ret)
{
    static const char text[] =
        "version: 1\n"
        "policies:\n"
        "  default: { attempts: 3, attempt_timeout: 20s, deadline: 60s,\n"
        "    backoff: { base: 1ms, cap: 1ms }, budget: { kind: off },\n"
        "    breaker: { kind: off } }\n"
        "  hedged: { extends: default, attempts: 1,\n"
        "    hedge: { max: 1, after: 1ms, extra_load: 100%% } }\n"
        "proxy:\n"
        "  listen: [%s]\n"
        "  workers: 1\n"
        "  access_log: %s/%s\n"
        "  limits: { header_bytes: 4KiB, per_client: { connections: 100 } }\n"
        "  routes:\n"
        "    - { match: { path: /hedge }, upstream: u, policy: hedged }\n"
        "    - { match: { path: /stale }, upstream: u,\n"
        "        fallback: { stale: 10m } }\n"
        "    - { match: { path: /fail }, upstream: u,\n"
        "        fallback: { upstream: v, status: 418, body: b } }\n"
        "    - { upstream: u }\n"
        "  upstreams:\n"
        "    u: { endpoints: [\"http://127.0.0.1:%u\",\n"
        "        \"http://127.0.0.1:%u\"], pool: { idle: %u },\n"
        "      health: { path: /health, host: h, every: 100ms, timeout: 100ms "
        "} }\n"
        "    v: { endpoints: [\"http://localhost:%u\"] }\n";
    char file[sizeof text + 200];
    bide_diagnostics *notes = bide_diagnostics_new();
    bide_config *config = NULL;
    int len = snprintf(file, sizeof file, text, listen, dir, log,
                       origin.ports[0], origin.ports[1], idle, origin.ports[1]);
    if (bide_config_parse(&config, "t.yaml", file, (size_t)len, notes) < 0)
        bide_diagnostics_print(notes, stderr, false);
    bide_diagnostics_free(notes);
    assert_non_null(config);
    *ret = bide__config_proxy(config);
    return config;
}

static unsigned port_of(struct proxy *p, size_t i)
{
    struct sockaddr_in at;
    socklen_t len = sizeof at;
    struct listen_sockets *d = proxy_sockets(p);
    getsockname(listen_socket_of(d, 0, i)->fd, (struct sockaddr *)&at, &len);
    listen_sockets_unref(d);
    return ntohs(at.sin_port);
}

/* ===== a client ===== */

enum { LOOK_MS = 50, PATIENCE = 60000 / LOOK_MS };

/* A hedge that had no memory leaves the attempt that it was to overtake. */
static size_t hear(int fd, char *to, size_t size)
{
    size_t len = 0;
    int looks = 0;
    ssize_t n;
    while (len < size - 1 && (n = recv(fd, to + len, size - 1 - len, 0)) != 0) {
        if (n < 0 && errno != EAGAIN)
            break;
        if (n > 0)
            len += (size_t)n;
        else if (++looks == PATIENCE)
            fail_msg("no answer comes");
        else if (failed)
            origin_release();
    }
    to[len] = '\0';
    return len;
}

/* The status of an answer that is whole. */
static int status_of(const char *answer, size_t len)
{
    const char *end = strstr(answer, "\r\n\r\n");
    const char *length = strstr(answer, "Content-Length: ");
    int status = 0;
    if (sscanf(answer, "HTTP/1.1 %3d ", &status) != 1 || !end)
        fail_msg("no answer: %s", answer);
    if (length && length < end &&
        len != (size_t)(end + 4 - answer) + strtoul(length + 16, NULL, 10))
        fail_msg("cut short: %s", answer);
    return status;
}

static void ask(unsigned port, const char *what, size_t body, int want)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct timeval look = { .tv_usec = LOOK_MS * 1000 };
    char text[20000];
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int len = snprintf(text, sizeof text,
                       "%s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
                       "Content-Length: %zu\r\n\r\n%*s",
                       what, body, (int)body, "");
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &look, sizeof look);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(send(fd, text, (size_t)len, MSG_NOSIGNAL), len);
    size_t n = hear(fd, text, sizeof text);
    close(fd);
    int status = status_of(text, n);
    if (status != want && !(failed && status >= 500))
        fail_msg("%s: %d instead of %d: %s", what, status, want, text);
}

/* ===== the scenario ===== */

static void serve(unsigned port)
{
    ask(port, "GET /plain", 0, 200);
    ask(port, "GET /retry", 0, 200);
    ask(port, "GET /hedge", 0, 200);
    ask(port, "PUT /body", 12000, 200);
    ask(port, "GET /stale", 0, 200);
    ask(port, "GET /stale", 0, 200);
    ask(port, "GET /fail", 0, 418);
}

static bool start(struct proxy **ret)
{
    const struct bide__proxy_conf *conf;
    bide_config *config = read_conf("a", "127.0.0.1:0", 8, &conf);
    char err[512] = "";
    left = -2 - left; /* from here on they count */
    *ret = proxy_new(config, conf, NULL, err, sizeof err);
    if (!*ret)
        bide_config_free(config);
    if (*ret && proxy_start(*ret, err, sizeof err) == 0)
        return true;
    if (!failed || !strstr(err, "memory"))
        fail_msg("does not start: %s", err);
    return false;
}

/* The port to be asked at from then on. */
static unsigned reload(struct proxy *p)
{
    const struct bide__proxy_conf *conf;
    char err[512] = "";
    long n = left;
    left = -1;
    bide_config *config = read_conf("b", "127.0.0.1:0, 127.0.0.1:0", 9, &conf);
    left = n;
    if (proxy_reload(p, config, conf, err, sizeof err) == 0)
        return port_of(p, 1);
    bide_config_free(config);
    if (!failed || !strstr(err, "memory"))
        fail_msg("does not reload: %s", err);
    return port_of(p, 0);
}

static void play(long n)
{
    struct proxy *p = NULL;
    char err[512];
    origin_forget();
    failed = false;
    left = -2 - n;
    if (start(&p)) {
        serve(port_of(p, 0));
        while (origin.checks == 0 && !failed)
            sched_yield();
        unsigned port = reload(p);
        origin_forget();
        serve(port);
        if (!proxy_rotate(p, err, sizeof err))
            assert_true(failed);
        proxy_drain(p);
    }
    if (p && p->n_started && !p->draining)
        proxy_stop(p);
    if (p)
        proxy_join(p);
    proxy_free(p);
    left = -1;
}

static int descriptors(void)
{
    DIR *all = opendir("/proc/self/fd");
    int n = 0;
    while (readdir(all))
        n++;
    closedir(all);
    return n;
}

static void alloc_failure_is_survived(void **unused)
{
    long n = 0;
    int before = descriptors();
    (void)unused;
    origin_start();
    do
        play(n++);
    while (failed);
    origin_stop();
    assert_int_equal(descriptors(), before);
    assert_true(n > 50);
    print_message("# %ld allocations\n", n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alloc_failure_is_survived),
    };
    char file[64];
    if (!mkdtemp(dir))
        return 1;
    int rc = cmocka_run_group_tests_name("alloc", tests, NULL, NULL);
    for (const char *name = "ab"; *name; name++) {
        snprintf(file, sizeof file, "%s/%c", dir, *name);
        unlink(file);
    }
    rmdir(dir);
    return rc;
}
