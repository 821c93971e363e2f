/* Messages between two processes. */
#include "net/line.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Room for one descriptor, aligned as the kernel wants it. */
union control {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

int line_pair(int ends[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

static void attach(struct msghdr *m, union control *c, int fd)
{
    memset(c, 0, sizeof *c);
    m->msg_control = c;
    m->msg_controllen = CMSG_LEN(sizeof fd);
    c->head.cmsg_level = SOL_SOCKET;
    c->head.cmsg_type = SCM_RIGHTS;
    c->head.cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(&c->head), &fd, sizeof fd);
}

int line_send(int line, const char *word, const char *text, int fd)
{
    struct iovec parts[] = { { (char *)word, strlen(word) },
                             { " ", 1 },
                             { (char *)text, strlen(text) } };
    struct msghdr m = { .msg_iov = parts, .msg_iovlen = 3 };
    union control c;
    ssize_t n;

    if (parts[0].iov_len + parts[2].iov_len + 2 > LINE_BYTES) {
        errno = EMSGSIZE;
        return -1;
    }
    if (fd >= 0)
        attach(&m, &c, fd);
    while ((n = sendmsg(line, &m, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    return n < 0 ? -1 : 0;
}

static int attached(struct msghdr *m)
{
    struct cmsghdr *c = CMSG_FIRSTHDR(m);
    int fd;
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
        c->cmsg_len != CMSG_LEN(sizeof fd))
        return -1;
    memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

int line_receive(int line, struct line_message *ret)
{
    struct iovec all = { ret->bytes, sizeof ret->bytes - 1 };
    union control c;
    struct msghdr m = { .msg_iov = &all,
                        .msg_iovlen = 1,
                        .msg_control = &c,
                        .msg_controllen = sizeof c };
    ssize_t n = recvmsg(line, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (n <= 0)
        return 0;
    ret->bytes[n] = '\0';
    ret->fd = attached(&m);
    char *blank = strchr(ret->bytes, ' ');
    ret->word = ret->bytes;
    ret->text = blank ? blank + 1 : "";
    if (blank)
        *blank = '\0';
    return 1;
}
