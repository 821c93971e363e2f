/* Makes a request over TLS by running `bide fetch`: this program is linked
 * statically and has no TLS of its own. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/out.h"
#include "cmd/common/exec.h"
#include "cmd/common/output.h"
#include "cmd/top/fetch.h"

enum {
    BAD_CERTIFICATE = 60, /* as in bide-fetch(1) */
    MOST = 32 << 20,
    PIECE = 65536
};

/* In the child. Its error messages would be written over the screen. */
static void fetch(const struct top_place *place, const char *path, int to)
{
    char url[sizeof place->text + 64];
    char *argv[] = { "fetch", "-s", "--attempts", "1",    "--deadline", "3s",
                     url,     NULL, NULL,         NULL };
    sigset_t none;
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (place->ca) {
        argv[7] = "--cacert";
        argv[8] = (char *)place->ca;
    }
    snprintf(url, sizeof url, "%s%s", place->text, path);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(nowhere, STDIN_FILENO);
    dup2(to, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    exec_program("bide-fetch", argv);
    _exit(EXIT_FINDINGS);
}

/* Reads to the end and adds a NUL; NULL if it is too long or reading fails. */
static char *read_all(int fd, size_t *ret_len)
{
    struct bide__out out = { 0 };
    ssize_t n = 1;

    while (n > 0 && out.len < MOST) {
        char *to = bide__out_room(&out, PIECE);
        n = to ? read(fd, to, PIECE) : 0;
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            out.len += (size_t)n;
    }
    *ret_len = out.len;
    bide__out_char(&out, '\0');
    if (n == 0 && !out.failed)
        return out.data;
    bide__out_done(&out);
    return NULL;
}

/* Its exit code; -1: it was killed. */
static int await(pid_t child)
{
    int status;

    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static char *ask(const struct top_place *place, const char *path,
                 size_t *ret_len, int *ret_code)
{
    int ends[2];
    char *body = NULL;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return NULL;
    pid_t child = fork();
    if (child == 0)
        fetch(place, path, ends[1]);
    close(ends[1]);
    if (child > 0) {
        body = read_all(ends[0], ret_len);
        *ret_code = await(child);
    }
    close(ends[0]);
    return body;
}

char *top_fetch_secure(const struct top_place *place, const char *path,
                       size_t *ret_len, char *why, size_t size)
{
    int code = -1;
    char *body = ask(place, path, ret_len, &code);

    if (body && code == 0)
        return body;
    free(body);
    snprintf(why, size, "%s: %s", place->text,
             code == BAD_CERTIFICATE
                 ? "its certificate is not one to trust (--cacert FILE)"
                 : "nobody answers there as bide's admin endpoint does");
    return NULL;
}
