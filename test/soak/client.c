/* Honest load, and a judge of what comes back.
 *
 *     load-client PORT FIRST COUNT CONNECTIONS
 *
 * Sends the requests FIRST, FIRST + 1, ... (plan.h) to 127.0.0.1:PORT, one at a
 * time on each of so many connections, and compares each answer with its plan. For
 * each request of more than one attempt it prints a line `rN ATTEMPTS`; the last
 * line is `asked=N good=N wrong=N lost=N`. The first few that are wrong or lost are
 * told on standard error. One thread, epoll. */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "answer.h"
#include "plan.h"

enum { TOLD = 10, BATCH = 256, IN_MAX = 1 << 17 };

struct connection {
    int fd;
    unsigned long number;
    struct plan plan;
    char out[PLAN_MAX];
    size_t out_len, sent;
    char in[IN_MAX];
    size_t in_len;
};

static struct sockaddr_in target = { .sin_family = AF_INET };
static unsigned long next, end, good, wrong, lost;
static unsigned busy;
static int epoll;

static void die(const char *what)
{
    perror(what);
    exit(2);
}

static void tell(const struct connection *c, const char *what)
{
    if (wrong + lost > TOLD)
        return;
    fprintf(stderr, "r%lu %s: expected %d after %u attempts: %.*s\n%.*s\n",
            c->number, what, c->plan.status, c->plan.attempts,
            (int)strcspn(c->out, "\r"), c->out, (int)c->in_len, c->in);
}

static void watch(struct connection *c, int op, unsigned events)
{
    struct epoll_event e = { .events = events, .data.ptr = c };
    if (epoll_ctl(epoll, op, c->fd, &e) < 0)
        die("epoll_ctl");
}

static void open_one(struct connection *c)
{
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 ||
        connect(c->fd, (struct sockaddr *)&target, sizeof target) < 0)
        die("connect");
    watch(c, EPOLL_CTL_ADD, EPOLLIN);
}

static void close_one(struct connection *c)
{
    close(c->fd);
    c->fd = -1;
}

/* Sends what can be sent; the rest when there is room. */
static void push(struct connection *c)
{
    while (c->sent < c->out_len) {
        ssize_t n = send(c->fd, c->out + c->sent, c->out_len - c->sent,
                         MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN)
            return; /* reading tells the same */
        if (n < 0) {
            watch(c, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
            return;
        }
        c->sent += (size_t)n;
        if (c->sent == c->out_len && (size_t)n < c->out_len)
            watch(c, EPOLL_CTL_MOD, EPOLLIN);
    }
}

static void ask(struct connection *c)
{
    if (next == end) {
        busy--;
        if (c->fd >= 0)
            close_one(c);
        return;
    }
    c->number = next++;
    c->out_len = plan_make(&c->plan, c->number, c->out);
    c->sent = c->in_len = 0;
    if (c->plan.attempts > 1)
        printf("r%lu %u\n", c->number, c->plan.attempts);
    if (c->fd < 0)
        open_one(c);
    push(c);
}

static void judge(struct connection *c, const struct answer *a)
{
    size_t n = strlen(c->plan.body);
    bool own = n == 0 || (a->body_len == n &&
                          memcmp(a->body, c->plan.body, n) == 0);
    bool as_planned = a->status == c->plan.status &&
                      a->attempts == c->plan.attempts && own;
    good += as_planned;
    wrong += !as_planned;
    if (!as_planned)
        tell(c, "is wrong");
    if (a->closes)
        close_one(c);
    ask(c);
}

static void pull(struct connection *c)
{
    struct answer a;
    ssize_t n = recv(c->fd, c->in + c->in_len, IN_MAX - c->in_len, 0);
    if (n <= 0) {
        lost++;
        tell(c, "is lost");
        close_one(c);
        ask(c);
        return;
    }
    c->in_len += (size_t)n;
    if (answer_read(&a, c->in, c->in_len))
        judge(c, &a);
}

static void serve(void)
{
    struct epoll_event ready[BATCH];
    while (busy > 0) {
        int n = epoll_wait(epoll, ready, BATCH, -1);
        for (int i = 0; i < n; i++) {
            struct connection *c = ready[i].data.ptr;
            if (ready[i].events & EPOLLOUT)
                push(c);
            if (c->fd >= 0 && ready[i].events & ~(unsigned)EPOLLOUT)
                pull(c);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "load-client PORT FIRST COUNT CONNECTIONS\n");
        return 2;
    }
    target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    target.sin_port = htons((unsigned short)atoi(argv[1]));
    next = strtoul(argv[2], NULL, 10);
    unsigned long asked = strtoul(argv[3], NULL, 10);
    end = next + asked;
    unsigned connections = (unsigned)atoi(argv[4]);
    signal(SIGPIPE, SIG_IGN);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    struct connection *all = calloc(connections, sizeof *all);
    if (epoll < 0 || !all)
        die("start");
    for (unsigned i = 0; i < connections; i++) {
        all[i].fd = -1;
        busy++;
        ask(&all[i]);
    }
    serve();
    free(all);
    printf("asked=%lu good=%lu wrong=%lu lost=%lu\n", asked, good, wrong, lost);
    return wrong || lost;
}
