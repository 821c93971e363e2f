/* Waits for addresses that another process has. */
#include "cmd/proxy/taken.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bide/run.h"
#include "cmd/proxy/supervise.h"
#include "net/address.h"

static const int64_t PATIENCE_NS = 3 * BIDE_SECOND;
enum { LOOK_MS = 20 };

/* It is bound and does not listen: whoever connects meanwhile is refused, as before.
 * What else may be wrong with an address is for those who open it to say. */
static bool is_taken(const struct bide__proxy_address *c)
{
    const char *host = c->path                             ? NULL
                       : strcmp(c->host, "localhost") == 0 ? "127.0.0.1"
                                                           : c->host;
    const int on = 1;
    struct net_address a;
    if (!host || c->port == 0 || net_address_parse(&a, host, c->port) < 0)
        return false;
    int fd = socket(a.to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bool taken = bind(fd, &a.to.any, a.len) < 0 && errno == EADDRINUSE;
    close(fd);
    return taken;
}

/* NULL: none is. */
static const char *first_taken(const struct bide__proxy_conf *conf)
{
    for (size_t i = 0; i < conf->n_listen && !conf->reuse_port; i++)
        if (is_taken(&conf->listen[i]))
            return conf->listen[i].text;
    return conf->admin && is_taken(conf->admin) ? conf->admin->text : NULL;
}

/* Signals are blocked here, and wait for who handles them. */
static bool told_something(void)
{
    sigset_t ours, pending;
    station_signals(&ours);
    if (sigpending(&pending) < 0)
        return false;
    for (int sig = 1; sig <= SIGRTMAX; sig++)
        if (sigismember(&ours, sig) == 1 && sigismember(&pending, sig) == 1)
            return true;
    return false;
}

void taken_wait(const struct bide__proxy_conf *conf)
{
    const struct timespec look = { .tv_nsec = LOOK_MS * 1000000L };
    const char *text = first_taken(conf);
    int64_t end = bide_now_ns() + PATIENCE_NS;
    if (text)
        fprintf(stderr,
                "bide proxy: %s is taken; waiting up to 3 seconds for it\n",
                text);
    while (text && bide_now_ns() < end && !told_something()) {
        nanosleep(&look, NULL);
        text = first_taken(conf);
    }
}
