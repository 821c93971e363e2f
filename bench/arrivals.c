/* arrivals PORT FILE SINCE: an origin that answers every request with 200, and
 * counts when they came. FILE holds a counter for every 10 ms since SINCE
 * (nanoseconds of CLOCK_MONOTONIC), mapped, so that the counts of one that was
 * killed stay, and the next one goes on counting.
 *
 * One thread, one epoll loop, keep-alive; a body is read by its Content-Length.
 * Fast enough to be no part of what bench_restart.py measures. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 60000, SLOT_NS = 10000000, CLIENTS = 65536, HEAD = 4096 };

struct client {
    size_t used; /* of head */
    size_t body; /* still to come */
    bool last;   /* the connection is closed after this answer */
    char head[HEAD];
};

static struct client *clients[CLIENTS];
static uint32_t *counts;
static int64_t since_ns;

static void count(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t slot =
        (t.tv_sec * INT64_C(1000000000) + t.tv_nsec - since_ns) / SLOT_NS;
    if (slot >= 0 && slot < SLOTS)
        counts[slot]++;
}

static void drop(int fd)
{
    free(clients[fd]);
    clients[fd] = NULL;
    close(fd);
}

/* False if the connection is gone. */
static bool answer(int fd, const struct client *c)
{
    static const char yes[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    if (write(fd, yes, sizeof yes - 1) == (ssize_t)sizeof yes - 1 && !c->last)
        return true;
    drop(fd);
    return false;
}

/* Takes the head of a request out of what was read; false if it is not all
 * there. */
static bool take_head(struct client *c)
{
    char *end = memmem(c->head, c->used, "\r\n\r\n", 4);
    if (end == NULL)
        return false;
    *end = '\0';
    const char *length = strcasestr(c->head, "\r\ncontent-length:");
    c->body = length ? strtoul(length + 17, NULL, 10) : 0;
    c->last = strcasestr(c->head, "\r\nconnection: close") != NULL;
    size_t head = (size_t)(end + 4 - c->head);
    memmove(c->head, end + 4, c->used - head);
    c->used -= head;
    count();
    return true;
}

/* Answers what has come in full; false if the connection is gone. */
static bool serve(int fd, struct client *c)
{
    for (;;) {
        if (c->body == 0 && !take_head(c))
            return true;
        size_t n = c->body < c->used ? c->body : c->used;
        memmove(c->head, c->head + n, c->used - n);
        c->used -= n;
        c->body -= n;
        if (c->body > 0)
            return true;
        if (!answer(fd, c))
            return false;
    }
}

static void readable(int fd)
{
    struct client *c = clients[fd];
    ssize_t n = read(fd, c->head + c->used, sizeof c->head - 1 - c->used);
    if (n <= 0) {
        drop(fd);
        return;
    }
    c->used += (size_t)n;
    serve(fd, c);
}

static void welcome(int poll, int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    if (fd >= CLIENTS || (clients[fd] = calloc(1, sizeof **clients)) == NULL) {
        close(fd);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };
    epoll_ctl(poll, EPOLL_CTL_ADD, fd, &e);
}

static int listen_on(const char *port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)atoi(port)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
    if (fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 &&
        listen(fd, 4096) == 0)
        return fd;
    perror("arrivals: listen");
    exit(1);
}

static void map_counts(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    size_t size = SLOTS * sizeof *counts;
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0 ||
        (counts = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                       0)) == MAP_FAILED) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: arrivals PORT FILE SINCE\n");
        return 2;
    }
    map_counts(argv[2]);
    since_ns = strtoll(argv[3], NULL, 10);
    int listener = listen_on(argv[1]);
    int poll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event e = { .events = EPOLLIN, .data.fd = listener };
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &e);
    for (;;) {
        struct epoll_event found[256];
        int n = epoll_wait(poll, found, 256, -1);
        for (int i = 0; i < n; i++) {
            if (found[i].data.fd == listener)
                welcome(poll, listener);
            else
                readable(found[i].data.fd);
        }
    }
}
