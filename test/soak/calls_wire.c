/* Connections of nghttp2's sessions. */
#include "calls_wire.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { READ = 65536 };

void die(const char *what)
{
    perror(what);
    exit(2);
}

int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

uint64_t mixed(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static size_t name_of(char name[24], unsigned long call)
{
    return (size_t)snprintf(name, 24, "%lu.", call);
}

void message_make(uint8_t *out, unsigned long call, size_t len)
{
    char name[24];
    size_t n = name_of(name, call), payload = len - MESSAGE_HEAD;
    out[0] = 0;
    for (int i = 0; i < 4; i++)
        out[1 + i] = (uint8_t)(payload >> (24 - 8 * i));
    for (size_t i = 0; i < payload; i++)
        out[MESSAGE_HEAD + i] = (uint8_t)name[i % n];
}

void message_take(struct message *m, unsigned long call, const uint8_t *bytes,
                  size_t n)
{
    char name[24];
    size_t len = name_of(name, call);
    for (size_t i = 0; i < n; i++, m->got++) {
        if (m->got == 0)
            m->differs |= bytes[i] != 0;
        else if (m->got < MESSAGE_HEAD)
            m->length = m->length << 8 | bytes[i];
        else
            m->differs |= bytes[i] !=
                          (uint8_t)name[(m->got - MESSAGE_HEAD) % len];
    }
}

bool message_is_whole(const struct message *m)
{
    return m->got >= MESSAGE_HEAD && m->got - MESSAGE_HEAD == m->length &&
           !m->differs;
}

static void watch(struct wire *w, int op, bool full)
{
    struct epoll_event e = { .events = EPOLLIN | (full ? EPOLLOUT : 0u),
                             .data.ptr = w };
    w->full = full;
    if (epoll_ctl(w->epoll, op, w->fd, &e) < 0)
        die("epoll_ctl");
}

void wire_init(struct wire *w, int fd, int epoll)
{
    const int on = 1;
    w->fd = fd;
    w->epoll = epoll;
    w->len = w->at = 0;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    watch(w, EPOLL_CTL_ADD, false);
}

void wire_done(struct wire *w)
{
    nghttp2_session_del(w->h2);
    free(w->out);
    close(w->fd);
    memset(w, 0, sizeof *w);
    w->fd = -1;
}

void wire_raw(struct wire *w, const void *bytes, size_t n)
{
    if (w->len + n > w->room) {
        w->room = 2 * (w->len + n);
        if (!(w->out = realloc(w->out, w->room)))
            die("realloc");
    }
    memcpy(w->out + w->len, bytes, n);
    w->len += n;
}

bool wire_push(struct wire *w)
{
    const uint8_t *frame;
    ssize_t n;
    while ((n = nghttp2_session_mem_send(w->h2, &frame)) > 0)
        wire_raw(w, frame, (size_t)n);
    while (w->at < w->len) {
        n = send(w->fd, w->out + w->at, w->len - w->at,
                 MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN)
            return false;
        if (n < 0)
            break;
        w->at += (size_t)n;
    }
    if (w->at == w->len)
        w->at = w->len = 0;
    if ((w->len > 0) != w->full)
        watch(w, EPOLL_CTL_MOD, w->len > 0);
    return true;
}

bool wire_pull(struct wire *w, bool *ret_reset)
{
    uint8_t in[READ];
    ssize_t n;
    *ret_reset = false;
    while ((n = recv(w->fd, in, sizeof in, MSG_DONTWAIT)) > 0) {
        ssize_t took = nghttp2_session_mem_recv(w->h2, in, (size_t)n);
        if (took < 0) {
            fprintf(stderr, "# nghttp2: %s\n", nghttp2_strerror((int)took));
            return false;
        }
        if (n < (ssize_t)sizeof in)
            return true;
    }
    *ret_reset = n < 0 && errno != EAGAIN;
    return n < 0 && errno == EAGAIN;
}
