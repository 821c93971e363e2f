/* Starting serving processes, and signalling them. */
#include "cmd/proxy/children.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bide/run.h"
#include "cmd/proxy/inventory.h"
#include "net/line.h"

extern char **environ;

/* ===== who there is ===== */

/* The one that has been in a state longest. */
static struct child *in_state(struct supervisor *s, int state)
{
    struct child *found = NULL;
    for (struct child *c = s->children; c < s->children + DEP_SEATS; c++)
        if (c->pid && (int)c->state == state &&
            (!found || c->since_ns < found->since_ns))
            found = c;
    return found;
}

struct child *child_serving(struct supervisor *s)
{
    struct child *c = in_state(s, CHILD_SERVING);
    return c ? c : in_state(s, CHILD_STARTING);
}

struct child *child_next(struct supervisor *s)
{
    return in_state(s, CHILD_SERVING) ? in_state(s, CHILD_STARTING) : NULL;
}

static uint32_t seats_taken(const struct supervisor *s)
{
    uint32_t seats = 0;
    for (unsigned i = 0; i < DEP_SEATS; i++)
        if (s->children[i].pid)
            seats |= UINT32_C(1) << i;
    return seats;
}

bool child_any(const struct supervisor *s)
{
    return seats_taken(s) != 0;
}

static unsigned free_seat(const struct supervisor *s)
{
    unsigned i = 0;
    while (i < DEP_SEATS && s->children[i].pid)
        i++;
    return i;
}

static void seat(struct supervisor *s, unsigned i, pid_t pid, int line,
                 int program, bool from_disk)
{
    s->children[i] = (struct child){ .pid = pid,
                                     .line = line,
                                     .state = CHILD_STARTING,
                                     .since_ns = bide_now_ns(),
                                     .program = program,
                                     .from_disk = from_disk };
}

void child_forget(struct child *c)
{
    close(c->line);
    if (c->program >= 0)
        close(c->program);
    identity_done(&c->as);
    *c = (struct child){ .line = -1, .program = -1 };
}

/* ===== the first ===== */

int child_fork(struct supervisor *s, struct station *ret)
{
    int ends[2];
    pid_t self = getpid();
    if (line_pair(ends) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        close(s->signal_fd);
        if (s->running >= 0)
            close(s->running);
        *ret = (struct station){ .kept = s->kept,
                                 .memory = s->memory,
                                 .config = -1,
                                 .supervisor = self };
        ret->kept.line = ends[1];
        return 1;
    }
    int saved = errno;
    close(ends[1]);
    if (pid < 0)
        close(ends[0]);
    else
        seat(s, 0, pid, ends[0], -1, true);
    errno = saved;
    return pid < 0 ? -1 : 0;
}

/* ===== the others ===== */

static void list(FILE *f, const char *name, int fd)
{
    if (fd < 0)
        return;
    fcntl(fd, F_SETFD, 0);
    fprintf(f, "%d %s", fd, name);
    fputc('\0', f);
}

static void list_identity(FILE *f, const struct identity *id)
{
    if (id->user)
        fprintf(f, "= %s %s%c", IDENTITY_USER, id->user, '\0');
    if (id->group)
        fprintf(f, "= %s %s%c", IDENTITY_GROUP, id->group, '\0');
    if (id->sandbox)
        fprintf(f, "= %s%c", IDENTITY_SANDBOX, '\0');
}

/* In the child: all that it inherits stays open, and is listed in a file. */
static int write_inventory(const struct supervisor *s, unsigned i, pid_t self,
                           int line, bool kept_config)
{
    int fd = memfd_create("bide-inventory", 0);
    FILE *f = fd < 0 ? NULL : fdopen(dup(fd), "w");
    if (!f)
        return -1;
    fprintf(f, INVENTORY_HEAD, INVENTORY_VERSION, i, seats_taken(s),
            (int)s->served, (int)self);
    fputc('\0', f);
    list(f, INVENTORY_LINE, line);
    list(f, INVENTORY_MEMORY, s->memory);
    for (size_t k = 0; k < s->kept.n; k++)
        if (kept_config || strcmp(s->kept.list[k].name, INVENTORY_CONFIG) != 0)
            list(f, s->kept.list[k].name, s->kept.list[k].fd);
    if (kept_config)
        list_identity(f, &s->as);
    return fclose(f) == 0 ? fd : -1;
}

/* Never returns. If it cannot execute, it exits as a shell would. */
static void become_child(const struct supervisor *s, unsigned i, pid_t self,
                         int line, int program, bool kept_config)
{
    char number[16];
    int fd = write_inventory(s, i, self, line, kept_config);
    if (fd >= 0) {
        snprintf(number, sizeof number, "%d", fd);
        setenv(INVENTORY_VARIABLE, number, 1);
        syscall(SYS_execveat, program, "", s->argv, environ, AT_EMPTY_PATH);
    }
    fprintf(stderr, "bide proxy: cannot start %s: %s\n", s->program,
            strerror(errno));
    _exit(127);
}

int child_start(struct supervisor *s, int program, bool kept_config)
{
    unsigned i = free_seat(s);
    int ends[2];
    pid_t self = getpid();
    errno = EAGAIN;
    if (i == DEP_SEATS || line_pair(ends) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0)
        become_child(s, i, self, ends[1], program, kept_config);
    int saved = errno;
    close(ends[1]);
    if (pid < 0)
        close(ends[0]);
    else
        seat(s, i, pid, ends[0], program, !kept_config);
    errno = saved;
    return pid < 0 ? -1 : 0;
}

/* ===== signalling them ===== */

void child_tell(const struct child *c, int signal)
{
    if (c->pid)
        sigqueue(c->pid, SIGRTMIN, (union sigval){ .sival_int = signal });
}

void child_tell_all(const struct supervisor *s, int signal)
{
    for (size_t i = 0; i < DEP_SEATS; i++)
        child_tell(&s->children[i], signal);
}
