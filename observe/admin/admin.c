/* The admin thread: runs the server, and sends the streams a message per
 * second. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bide/run.h"
#include "net/address.h"
#include "net/tls.h"
#include "observe/admin/admin_parts.h"
#include "observe/admin/admin_route.h"
#include "observe/event/thread.h"
#include "observe/event/wall.h"

/* ===== streams ===== */

static void on_tick(struct net_timer *timer)
{
    struct bide__admin *a = bide__container_of(timer, struct bide__admin, tick);
    struct http_conn *c;
    bool any = false;

    bide__out_clear(&a->state);
    HTTP_SERVER_EACH(&a->server, c) {
        if (c->phase != HTTP_STREAMING)
            continue;
        any = true;
        if (!c->topic && a->state.len == 0)
            admin_state(a, &a->state, 0);
        if (c->topic || !a->state.failed)
            admin_stream_feed(a, c);
    }
    if (any)
        net_timer_set(&a->loop, timer, a->loop.now_ns + BIDE_SECOND);
}

/* ===== requests from other threads ===== */

static void on_wake(struct net_loop *loop)
{
    struct bide__admin *a = bide__container_of(loop, struct bide__admin, loop);
    void *tls = atomic_exchange(&a->renewed, NULL);

    if (atomic_load(&a->hand_over)) /* another process listens now */
        http_server_close(&a->server);
    if (!tls)
        return;
    net_tls_free(a->server.tls); /* open sessions keep what they need */
    a->server.tls = tls;
}

void bide__admin_hand_over(struct bide__admin *a)
{
    enum { LOOKS = 100 };
    const struct timespec look = { .tv_nsec = 10 * BIDE_MILLISECOND };

    atomic_store(&a->left, UINT32_MAX);
    atomic_store(&a->hand_over, true);
    net_loop_wake(&a->loop);
    for (int i = 0; i < LOOKS && atomic_load(&a->left) != 0; i++)
        nanosleep(&look, NULL);
}

static void *work(void *arg)
{
    struct bide__admin *a = arg;

    bide__thread_begin("bide-admin");
    while (!atomic_load(&a->stop)) {
        net_loop_step(&a->loop);
        if (a->server.fd < 0)
            atomic_store(&a->left, http_server_unanswered(&a->server));
    }
    return NULL;
}

/* ===== life ===== */

static void release(struct bide__admin *a)
{
    if (a->loop.clock_ns) {
        http_server_done(&a->server);
        net_loop_done(&a->loop);
    }
    net_tls_free(a->server.tls);
    net_tls_free(atomic_load(&a->renewed));
    bide__out_done(&a->state);
    free(a->token);
    for (char **h = a->hosts; h && *h; h++)
        free(*h);
    free(a->hosts);
    free(a);
}

/* A reload may free the configuration that these texts come from. */
static bool copy_texts(struct bide__admin *a)
{
    size_t n = 0;
    while (a->conf.hosts && a->conf.hosts[n])
        n++;
    a->token = a->conf.token ? strdup(a->conf.token) : NULL;
    a->hosts = calloc(n + 1, sizeof *a->hosts);
    for (size_t i = 0; a->hosts && i < n; i++)
        if (!(a->hosts[i] = strdup(a->conf.hosts[i])))
            return false;
    return a->hosts && (a->token || !a->conf.token);
}

static void *read_certificate(const char *certificate, const char *key,
                              char *why, size_t size)
{
    char mistake[512];
    const struct net_tls_pair pair = { certificate, key };
    const struct net_tls_server conf = { .pairs = &pair, .n_pairs = 1 };
    void *tls = net_tls_server_new(&conf, mistake, sizeof mistake);

    if (!tls)
        snprintf(why, size, "admin: %s", mistake);
    return tls;
}

bool bide__admin_renew(struct bide__admin *a, const char *certificate,
                       const char *key, char *why, size_t size)
{
    if (!certificate || !key)
        return true;
    void *tls = read_certificate(certificate, key, why, size);
    if (!tls)
        return false;
    net_tls_free(atomic_exchange(&a->renewed, tls));
    net_loop_wake(&a->loop);
    return true;
}

static bool prepare_tls(struct bide__admin *a, char *why, size_t size)
{
    if (!a->conf.certificate && !a->conf.key)
        return true;
    if (!a->conf.certificate || !a->conf.key) {
        snprintf(why, size,
                 "admin: expected a certificate and its key; found "
                 "one without the other");
        return false;
    }
    a->server.tls =
        read_certificate(a->conf.certificate, a->conf.key, why, size);
    return a->server.tls != NULL;
}

static bool begin(struct bide__admin *a, int fd)
{
    if (net_loop_init(&a->loop) < 0) {
        a->loop.clock_ns = NULL;
        return false;
    }
    a->loop.woken = on_wake;
    a->tick.fire = on_tick;
    return http_server_listen(&a->server, &a->loop, fd) == 0 && copy_texts(a) &&
           pthread_create(&a->thread, NULL, work, a) == 0;
}

static bool prepare(struct bide__admin *a, char *why, size_t size)
{
    if (a->conf.token && strlen(a->conf.token) < ADMIN_TOKEN_MIN) {
        snprintf(why, size, "admin: expected a token of at least %d characters",
                 ADMIN_TOKEN_MIN);
        return false;
    }
    if (!prepare_tls(a, why, size))
        return false;
    a->start_ns = bide_now_ns();
    a->wall_offset_ns = bide__wall_offset_ns();
    int fd = bide__admin_listen(&a->conf, why, size);
    if (fd < 0)
        return false;
    if (begin(a, fd))
        return true;
    if (a->server.fd < 0)
        close(fd);
    snprintf(why, size, "admin: no memory, file or thread left");
    return false;
}

struct bide__admin *bide__admin_start(const struct bide__admin_conf *conf,
                                      char *why, size_t size)
{
    struct bide__admin *a = calloc(1, sizeof *a);

    if (!a) {
        snprintf(why, size, "admin: no memory");
        return NULL;
    }
    a->conf = *conf;
    a->server = (struct http_server)HTTP_SERVER_INIT;
    a->server.user = a;
    a->server.request = admin_route;
    a->server.refuse = admin_problem;
    if (prepare(a, why, size))
        return a;
    release(a);
    return NULL;
}

void bide__admin_stop(struct bide__admin *a)
{
    if (!a)
        return;
    atomic_store(&a->stop, true);
    net_loop_wake(&a->loop);
    pthread_join(a->thread, NULL);
    release(a);
}

int bide__admin_listener(const struct bide__admin *a)
{
    return a->server.fd;
}

int bide__admin_port(const struct bide__admin *a)
{
    struct net_address at = { .len = sizeof at.to };

    if (getsockname(a->server.fd, &at.to.any, &at.len) != 0 ||
        at.to.any.sa_family == AF_UNIX)
        return 0;
    return ntohs(at.to.any.sa_family == AF_INET ? at.to.in.sin_port
                                                : at.to.in6.sin6_port);
}
