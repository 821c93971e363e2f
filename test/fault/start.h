/* Starts the fault server for a test program, and asks what it has seen.
 *
 *     struct fault f = fault_start();
 *     fault_url(&f, url, sizeof url, "/s/503,200?id=%d", i);
 *     ...
 *     fault_count(&f, "id", "requests");
 *     fault_stop(&f);
 *
 * The program is $BIDE_FAULT_SERVER. It ends with the test, whatever becomes
 * of that: it reads from a pipe that nobody writes to. */
#ifndef BIDE_TEST_FAULT_START_H
#define BIDE_TEST_FAULT_START_H

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct fault {
    pid_t pid;
    int life; /* the server lives until this is closed */
    int http, reset, silent, closed;
};

static inline struct fault fault_start(void)
{
    struct fault f = { .pid = -1 };
    const char *program = getenv("BIDE_FAULT_SERVER");
    int in[2], out[2];
    char line[128] = "";
    if (!program || pipe(in) < 0 || pipe(out) < 0)
        abort();
    f.pid = fork();
    if (f.pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[0]), close(in[1]), close(out[0]), close(out[1]);
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    close(in[0]), close(out[1]);
    f.life = in[1];
    FILE *from = fdopen(out[0], "r");
    if (!from || !fgets(line, sizeof line, from) ||
        sscanf(line, "http=%d reset=%d silent=%d closed=%d", &f.http, &f.reset,
               &f.silent, &f.closed) != 4)
        abort();
    fclose(from);
    return f;
}

/* Gives its exit status: not 0 if it has found fault with itself. */
static inline int fault_stop(struct fault *f)
{
    int status = -1;
    close(f->life);
    while (waitpid(f->pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

__attribute__((format(printf, 4, 5)))
static inline void fault_url(const struct fault *f, char *url, size_t size,
                             const char *format, ...)
{
    va_list args;
    int n = snprintf(url, size, "http://127.0.0.1:%d", f->http);
    va_start(args, format);
    vsnprintf(url + n, size - (size_t)n, format, args);
    va_end(args);
}

/* Asks the server itself, by the shortest way there is. */
static inline void fault_ask(const struct fault *f, const char *path, char *out,
                             size_t size)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((unsigned short)f->http),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    size_t len = 0;
    ssize_t n;
    if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof at) < 0)
        abort();
    dprintf(fd, "GET %s HTTP/1.1\r\nConnection: close\r\n\r\n", path);
    while (len + 1 < size && (n = read(fd, out + len, size - 1 - len)) > 0)
        len += (size_t)n;
    out[len] = '\0';
    close(fd);
}

/* A number out of what /count says; id NULL: of all. -1: not there. */
static inline int fault_count(const struct fault *f, const char *id,
                              const char *name)
{
    char path[512], answer[65536], pattern[64];
    snprintf(path, sizeof path, id ? "/count?id=%s" : "/count%s", id ? id : "");
    fault_ask(f, path, answer, sizeof answer);
    snprintf(pattern, sizeof pattern, "\"%s\":", name);
    char *found = strstr(answer, pattern);
    return found ? atoi(found + strlen(pattern)) : -1;
}

/* A text of the nth request (from 1) with that id; "" if it is not there. */
static inline const char *fault_seen(const struct fault *f, const char *id,
                                     int nth, const char *name)
{
    static char answer[65536], text[256];
    char path[512], pattern[64];
    snprintf(path, sizeof path, "/count?id=%s", id);
    fault_ask(f, path, answer, sizeof answer);
    snprintf(pattern, sizeof pattern, "\"%s\":\"", name);
    const char *found = answer;
    text[0] = '\0';
    for (int i = 0; found && i < nth; i++)
        found = strstr(found + 1, pattern);
    size_t n = 0;
    found = found ? found + strlen(pattern) : "";
    for (; *found && *found != '"' && n < sizeof text - 1; found++) {
        found += *found == '\\' && found[1];
        text[n++] = *found;
    }
    text[n] = '\0';
    return text;
}

#endif
