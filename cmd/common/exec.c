/* Some subcommands are programs of their own, which `bide` executes: what they
 * load takes longer than all of `bide run -- true`. They lie beside `bide`, or
 * where they were installed to, also if the whole of that was moved. */
#include "cmd/common/exec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/common/output.h"

static void exec_in(const char *directory, const char *below,
                    const char *program, char **argv)
{
    char path[4200];

    snprintf(path, sizeof path, "%s%s/%s", directory, below, program);
    execv(path, argv);
}

int exec_program(const char *program, char **argv)
{
    char here[4096];
    ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);

    if (n > 0) {
        here[n] = '\0';
        *strrchr(here, '/') = '\0';
        exec_in(here, "", program, argv);
        exec_in(here, "/../libexec/bide", program, argv);
    }
    exec_in(FETCH_DIR, "", program, argv);
    if (errno == ENOENT)
        return complain(
            argv[0],
            "%s is neither beside `bide` nor in %s: it is a part of bide, "
            "and `make install` puts it there",
            program, FETCH_DIR);
    return complain(argv[0], "%s/%s: %s", FETCH_DIR, program, strerror(errno));
}

/* ===== the commands that are such programs ===== */

int cmd_proxy(int argc, char **argv)
{
    (void)argc;
    return exec_program("bide-proxy", argv);
}

int cmd_store(int argc, char **argv)
{
    (void)argc;
    return exec_program("bide-store", argv);
}

int cmd_demo(int argc, char **argv)
{
    (void)argc;
    return exec_program("bide-demo", argv);
}

int cmd_enqueue(int argc, char **argv)
{
    (void)argc;
    return exec_program("bide-enqueue", argv);
}

int cmd_worker(int argc, char **argv)
{
    (void)argc;
    return exec_program("bide-worker", argv);
}
