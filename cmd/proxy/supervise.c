/* The supervisor: waits for signals, for messages of the serving processes, and
 * for their ends. supervise.h says what each means. */
#include "cmd/proxy/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bide/bide.h"
#include "bide/run.h"
#include "cmd/proxy/children.h"
#include "cmd/proxy/inventory.h"
#include "net/line.h"
#include "net/systemd.h"

/* A process that served this long was healthy; starting one may take this
 * long. */
#define WELL_NS  (10 * BIDE_SECOND)
#define READY_NS (60 * BIDE_SECOND)

enum { SUSPICIOUS = 5 }; /* deaths in quick succession */

/* A line on standard error, if it can be written at once: nothing may block
 * this process. */
static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
    struct pollfd out = { .fd = STDERR_FILENO, .events = POLLOUT };
    char text[1024];
    va_list args;
    size_t n = (size_t)snprintf(text, sizeof text, "bide proxy: ");

    va_start(args, format);
    vsnprintf(text + n, sizeof text - n - 1, format, args);
    va_end(args);
    strcat(text, "\n");
    if (poll(&out, 1, 0) > 0 && out.revents & POLLOUT)
        (void)!write(STDERR_FILENO, text, strlen(text));
}

/* ===== starting ===== */

/* Immediately the first time, then with growing waits. */
static int64_t wait_before(const struct supervisor *s)
{
    bide_backoff b = BIDE_BACKOFF_INIT;
    bide_rng_seeded mine;
    bide_rng rng = bide_rng_seed(&mine, (uint64_t)bide_now_ns());
    b.cap_ns = 10 * BIDE_SECOND;
    b.jitter = BIDE_JITTER_EQUAL;
    return s->deaths <= 1 ? 0
                          : bide_backoff_wait(&b, s->deaths - 2, 0, &rng);
}

/* The program that served before, or the one on disk if it is not open. */
static int program_again(const struct supervisor *s)
{
    return s->running >= 0 ? fcntl(s->running, F_DUPFD_CLOEXEC, 0)
                           : open(s->program, O_PATH | O_CLOEXEC);
}

/* If the memory is shared with a living process, what the dead one held cannot
 * be told from what that one holds; if processes keep dying, it may be the
 * cause: then it is replaced. */
static void renew_memory(struct supervisor *s)
{
    bool suspect = s->deaths >= SUSPICIOUS;
    int fd = child_any(s) || suspect ? dep_memory_file() : -1;
    if (fd < 0)
        return;
    if (s->deaths == SUSPICIOUS)
        say("breakers and budgets start afresh: they may be to blame");
    if (s->memory >= 0)
        close(s->memory);
    s->memory = fd;
}

static void start_again(struct supervisor *s)
{
    int program = program_again(s);
    s->start_ns = BIDE_FOREVER;
    renew_memory(s);
    bool kept_config = kept_find(&s->kept, INVENTORY_CONFIG) != NULL;
    if (program >= 0 && child_start(s, program, kept_config) == 0)
        return;
    say("cannot start the serving process: %s",
            strerror(errno));
    if (program >= 0)
        close(program);
    s->deaths++;
    s->start_ns = bide_now_ns() + wait_before(s);
}

static void upgrade(struct supervisor *s)
{
    if (s->stopping || child_next(s)) {
        say("no upgrade: %s",
                s->stopping ? "it is ending" : "one is under way");
        return;
    }
    int program = open(s->program, O_PATH | O_CLOEXEC);
    if (program >= 0 && child_start(s, program, false) == 0) {
        s->start_ns = BIDE_FOREVER;
        return;
    }
    say("no upgrade: %s: %s; the old process continues",
            s->program, strerror(errno));
    if (program >= 0)
        close(program);
}

/* ===== messages of a serving process ===== */

/* It serves. If another did before, that one drains. */
static void ready(struct supervisor *s, struct child *c)
{
    struct child *before = child_serving(s);
    if (c->state != CHILD_STARTING)
        return;
    if (before != c) {
        say("upgraded: process %d serves, process %d drains",
                (int)c->pid, (int)before->pid);
        before->state = CHILD_DRAINING;
        child_tell(before, SIGUSR2);
    }
    if (c->program >= 0) {
        if (s->running >= 0)
            close(s->running);
        s->running = c->program;
        c->program = -1;
    }
    if (c->from_disk) {
        identity_done(&s->as);
        s->as = c->as;
        c->as = (struct identity){ .user = NULL };
    }
    kept_settle(&s->kept, (unsigned)(c - s->children));
    c->state = CHILD_SERVING;
    c->since_ns = bide_now_ns();
    s->served = true;
}

static void stopping(struct supervisor *s)
{
    s->stopping = true;
    s->start_ns = BIDE_FOREVER;
    kept_clear(&s->kept);
}

static void notified(struct supervisor *s, struct child *c, const char *text)
{
    if (strncmp(text, "READY=1", 7) == 0)
        ready(s, c);
    if (c != child_serving(s))
        return;
    if (strncmp(text, "STOPPING=1", 10) == 0)
        stopping(s);
    systemd_notify(text);
}

/* Messages of a draining process are ignored. */
static void heard(struct supervisor *s, struct child *c, struct line_message *m)
{
    bool counts = c->state != CHILD_DRAINING && !s->stopping;
    if (strcmp(m->word, "hold") == 0 && counts && m->fd >= 0) {
        kept_put(&s->kept, m->text, m->fd,
                 c->state == CHILD_STARTING ? (unsigned)(c - s->children)
                                            : KEPT_SETTLED);
        m->fd = -1;
    } else if (strcmp(m->word, "drop") == 0 && counts) {
        kept_remove(&s->kept, m->text);
    } else if (strcmp(m->word, "notify") == 0) {
        notified(s, c, m->text);
    } else if (c->state == CHILD_STARTING && c->from_disk) {
        char text[LINE_BYTES];
        snprintf(text, sizeof text, "%s %s", m->word, m->text);
        identity_read(&c->as, text);
    }
    if (m->fd >= 0)
        close(m->fd);
}

static void listen_to(struct supervisor *s, struct child *c)
{
    static struct line_message m;
    while (c->pid && line_receive(c->line, &m) > 0)
        heard(s, c, &m);
}

/* ===== ends ===== */

static const char *how(int status, char text[64])
{
    if (WIFSIGNALED(status))
        snprintf(text, 64, "was ended by signal %d (%s)", WTERMSIG(status),
                 sigdescr_np(WTERMSIG(status)));
    else
        snprintf(text, 64, "ended with code %d", WEXITSTATUS(status));
    return text;
}

/* The one that served, or was to. */
static void lost(struct supervisor *s, const struct child *c, int status)
{
    bool well = c->state == CHILD_SERVING &&
                bide_now_ns() - c->since_ns >= WELL_NS;
    char text[64], in[32];

    s->code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
    if (s->stopping || !s->served || (WIFEXITED(status) && s->code == 0)) {
        if (WIFSIGNALED(status))
            say("the serving process %s",
                    how(status, text));
        stopping(s);
        return;
    }
    s->deaths = well ? 1 : s->deaths + 1;
    int64_t wait = wait_before(s);
    s->start_ns = bide_now_ns() + wait;
    say("the serving process %s; another starts %s%s",
            how(status, text), wait ? "in " : "now",
            wait ? bide_format_duration(wait / BIDE_MILLISECOND *
                                            BIDE_MILLISECOND,
                                        in, sizeof in)
                 : "");
}

static void ended(struct supervisor *s, struct child *c, int status)
{
    char text[64];
    listen_to(s, c); /* its last messages */
    struct child gone = *c;
    bool served = c == child_serving(s), next = c == child_next(s);
    child_forget(c);
    if (next) {
        kept_remove_owned(&s->kept, (unsigned)(c - s->children));
        say("no upgrade: the new process %s before it was "
                "ready; the old process continues",
                how(status, text));
    } else if (served) {
        lost(s, &gone, status);
    }
}

/* As the first process of a container it inherits orphans. */
static void reap(struct supervisor *s)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (size_t i = 0; i < DEP_SEATS; i++)
            if (s->children[i].pid == pid)
                ended(s, &s->children[i], status);
}

/* ===== signals ===== */

/* If the serving process is gone, the next begins with the file. */
static void reload(struct supervisor *s)
{
    if (child_serving(s))
        child_tell_all(s, SIGHUP);
    else
        kept_remove(&s->kept, INVENTORY_CONFIG);
}

static void obey(struct supervisor *s, int signal)
{
    switch (signal) {
    case SIGCHLD:
        reap(s);
        break;
    case SIGHUP:
        reload(s);
        break;
    case SIGUSR2:
        upgrade(s);
        break;
    case SIGUSR1:
        child_tell_all(s, signal);
        break;
    default:
        if (!child_any(s))
            systemd_notify("STOPPING=1");
        stopping(s);
        child_tell_all(s, SIGTERM);
    }
}

static void read_signals(struct supervisor *s)
{
    struct signalfd_siginfo info;
    while (read(s->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
        obey(s, (int)info.ssi_signo);
}

/* ===== the loop ===== */

/* An upgrade that hangs is aborted. */
static void hurry(struct supervisor *s, int64_t now)
{
    const struct child *next = child_next(s);
    if (next && now - next->since_ns >= READY_NS)
        kill(next->pid, SIGKILL);
}

static int patience_ms(struct supervisor *s, int64_t now)
{
    const struct child *next = child_next(s);
    int64_t at = s->start_ns;
    if (next && next->since_ns + READY_NS < at)
        at = next->since_ns + READY_NS;
    if (at == BIDE_FOREVER)
        return -1;
    int64_t ms = (at - now) / BIDE_MILLISECOND + 1;
    return at <= now ? 0 : ms > 60000 ? 60000 : (int)ms;
}

static void supervise_children(struct supervisor *s)
{
    while (child_any(s) || !s->stopping) {
        struct pollfd p[DEP_SEATS + 1];
        int64_t now = bide_now_ns();
        if (now >= s->start_ns)
            start_again(s);
        hurry(s, now);
        p[0] = (struct pollfd){ .fd = s->signal_fd, .events = POLLIN };
        for (size_t i = 0; i < DEP_SEATS; i++)
            p[i + 1] = (struct pollfd){
                .fd = s->children[i].pid ? s->children[i].line : -1,
                .events = POLLIN
            };
        poll(p, DEP_SEATS + 1, patience_ms(s, bide_now_ns()));
        for (size_t i = 0; i < DEP_SEATS; i++)
            if (p[i + 1].revents & POLLIN)
                listen_to(s, &s->children[i]);
        if (p[0].revents)
            read_signals(s);
    }
}

/* ===== the beginning ===== */

static int prepare(struct supervisor *s, char **argv)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    struct station alone;

    station_alone(&alone);
    s->kept = alone.kept;
    s->argv = argv;
    s->start_ns = BIDE_FOREVER;
    s->program = n > 0 ? strndup(path, (size_t)n) : NULL;
    s->running = open("/proc/self/exe", O_PATH | O_CLOEXEC);
    s->memory = dep_memory_file();
    station_signals(&s->signals);
    sigaddset(&s->signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &s->signals, NULL);
    s->signal_fd = signalfd(-1, &s->signals, SFD_CLOEXEC | SFD_NONBLOCK);
    for (size_t i = 0; i < DEP_SEATS; i++)
        s->children[i].line = s->children[i].program = -1;
    return s->program && s->signal_fd >= 0 ? 0 : -1;
}

int supervise(char **argv, bide_config *config, int text,
              struct station *ret_station, int *ret_code)
{
    static struct supervisor s;
    int rc = prepare(&s, argv) < 0 ? -1 : child_fork(&s, ret_station);

    if (rc > 0)
        return 1;
    *ret_code = EXIT_FAILURE;
    bide_config_free(config);
    if (text >= 0)
        close(text);
    if (rc < 0) {
        say("cannot start: %s", strerror(errno));
        return 0;
    }
    prctl(PR_SET_NAME, "bide-supervisor");
    malloc_trim(0);
    supervise_children(&s);
    *ret_code = s.code;
    kept_clear(&s.kept);
    free(s.program);
    return 0;
}
