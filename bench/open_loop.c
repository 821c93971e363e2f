/* open_loop PORT RATE SECONDS [METHOD [BYTES]]: requests to a port of loopback,
 * one every 1/RATE s, whether or not those before have been answered, as users
 * come who do not know of each other. (wrk is a closed loop: it asks again when it
 * has its answer, so that a server that is away has no load.)
 *
 * Each has a connection for itself; one that is free is used again. A wait is
 * counted from when the request was due. Prints a line of JSON when the last is
 * answered, or 30 s after the last was due: calls, failed, what they came to
 * (status codes; "connection": refused or reset; "unanswered"), and quantiles of
 * the waits of those that were answered with 2xx, in seconds. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PEERS = 65536, HEAD = 4096, BODY = 65536, CODES = 600 };
enum { CONNECTION = 0, UNANSWERED = 1 }; /* beside status codes */

static const int64_t SECOND = 1000000000;

struct peer {
    bool busy;
    int64_t due_ns;
    size_t used;
    char head[HEAD];
};

static struct peer *peers[PEERS];
static int idle[PEERS];
static size_t idle_n;
static int poll_fd;
static uint16_t port;
static char request[HEAD + BODY];
static size_t request_size;
static uint64_t came_to[CODES];
static double *waits;
static size_t waits_n;
static uint64_t ended;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

static void end(int code, int64_t due_ns)
{
    ended++;
    came_to[code]++;
    if (code >= 200 && code < 300)
        waits[waits_n++] = (double)(now_ns() - due_ns) / (double)SECOND;
}

/* The connection is gone, and with it its call. */
static void drop(int fd)
{
    struct peer *p = peers[fd];
    if (p->busy)
        end(CONNECTION, p->due_ns);
    for (size_t i = 0; i < idle_n; i++)
        if (idle[i] == fd)
            idle[i--] = idle[--idle_n];
    free(p);
    peers[fd] = NULL;
    close(fd);
}

/* A connection under way; the request is written when it stands. -1: refused. */
static int dial(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    if (fd < 0 || fd >= PEERS ||
        (connect(fd, (struct sockaddr *)&to, sizeof to) != 0 &&
         errno != EINPROGRESS) ||
        (peers[fd] = calloc(1, sizeof **peers)) == NULL) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    struct epoll_event e = { .events = EPOLLOUT | EPOLLIN, .data.fd = fd };
    epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &e);
    return fd;
}

static void send_request(int fd)
{
    if (write(fd, request, request_size) != (ssize_t)request_size)
        drop(fd);
}

static void begin(int64_t due_ns)
{
    bool used = idle_n > 0;
    int fd = used ? idle[--idle_n] : dial();
    if (fd < 0) {
        end(CONNECTION, due_ns);
        return;
    }
    peers[fd]->busy = true;
    peers[fd]->due_ns = due_ns;
    peers[fd]->used = 0;
    if (used)
        send_request(fd);
}

static void writable(int fd)
{
    int error = 0;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){ sizeof error });
    if (error != 0) {
        drop(fd);
        return;
    }
    struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };
    epoll_ctl(poll_fd, EPOLL_CTL_MOD, fd, &e);
    send_request(fd);
}

/* The size of an answer that is there in full; 0 if it is not. */
static size_t whole(struct peer *p)
{
    p->head[p->used] = '\0';
    const char *end_of_head = strstr(p->head, "\r\n\r\n");
    const char *length = strcasestr(p->head, "\r\ncontent-length:");
    if (end_of_head == NULL)
        return 0;
    size_t size = (size_t)(end_of_head + 4 - p->head) +
                  (length ? strtoul(length + 17, NULL, 10) : 0);
    return p->used >= size ? size : 0;
}

static void readable(int fd)
{
    struct peer *p = peers[fd];
    ssize_t n = read(fd, p->head + p->used, sizeof p->head - 1 - p->used);
    if (n < 0 && errno == EAGAIN)
        return;
    if (n > 0 && p->busy) {
        p->used += (size_t)n;
        if (!whole(p))
            return;
        int code = atoi(p->head + 9);
        p->busy = false;
        end(code > 99 && code < CODES ? code : CONNECTION, p->due_ns);
        if (!strcasestr(p->head, "\r\nconnection: close")) {
            idle[idle_n++] = fd;
            return;
        }
    }
    drop(fd);
}

static void events(int timeout_ms)
{
    struct epoll_event found[256];
    int n = epoll_wait(poll_fd, found, 256, timeout_ms);
    for (int i = 0; i < n; i++) {
        int fd = found[i].data.fd;
        if (peers[fd] != NULL && (found[i].events & EPOLLOUT))
            writable(fd);
        else if (peers[fd] != NULL)
            readable(fd);
    }
}

static void play(uint64_t calls, double rate)
{
    int64_t start = now_ns();
    int64_t last = start + (int64_t)((double)calls / rate * 1e9) + 30 * SECOND;
    uint64_t begun = 0;
    while (ended < calls && now_ns() < last) {
        int64_t due = start + (int64_t)((double)begun / rate * 1e9);
        while (begun < calls && due <= now_ns()) {
            begin(due);
            begun++;
            due = start + (int64_t)((double)begun / rate * 1e9);
        }
        events(1);
    }
    came_to[UNANSWERED] = calls - ended;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double q)
{
    return waits_n > 0 ? waits[(size_t)(q * (double)(waits_n - 1))] : 0;
}

static void print(uint64_t calls)
{
    qsort(waits, waits_n, sizeof *waits, by_size);
    printf("{\"calls\": %llu, \"failed\": %llu, \"p50\": %.6f, \"p99\": %.6f, "
           "\"max\": %.6f, \"came_to\": {",
           (unsigned long long)calls, (unsigned long long)(calls - waits_n),
           quantile(0.5), quantile(0.99), quantile(1));
    const char *comma = "";
    for (int i = 0; i < CODES; i++) {
        if (came_to[i] == 0)
            continue;
        char code[16];
        snprintf(code, sizeof code, "%d", i);
        printf("%s\"%s\": %llu", comma,
               i == CONNECTION   ? "connection"
               : i == UNANSWERED ? "unanswered"
                                 : code,
               (unsigned long long)came_to[i]);
        comma = ", ";
    }
    printf("}}\n");
}

/* A length of 0 is stated too, but for GET, which has none. */
static void write_request(const char *method, unsigned long bytes)
{
    char length[64] = "";
    bytes = bytes < BODY ? bytes : BODY;
    if (strcmp(method, "GET") != 0)
        snprintf(length, sizeof length, "Content-Length: %lu\r\n", bytes);
    int head =
        snprintf(request, HEAD, "%.99s / HTTP/1.1\r\nHost: bench\r\n%s\r\n",
                 method, length);
    memset(request + head, 'x', bytes);
    request_size = (size_t)head + bytes;
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc > 6) {
        fprintf(stderr,
                "usage: open_loop PORT RATE SECONDS [METHOD [BYTES]]\n");
        return 2;
    }
    port = (uint16_t)atoi(argv[1]);
    double rate = atof(argv[2]);
    uint64_t calls = (uint64_t)(rate * atof(argv[3]));
    write_request(argc > 4 ? argv[4] : "GET",
                  argc > 5 ? strtoul(argv[5], NULL, 10) : 0);
    waits = calloc(calls + 1, sizeof *waits);
    poll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (waits == NULL || poll_fd < 0 || rate <= 0)
        return 1;
    play(calls, rate);
    print(calls);
    return 0;
}
