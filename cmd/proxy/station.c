/* A serving process under its supervisor: what it inherits, and which signals
 * are for it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/proxy/inventory.h"
#include "cmd/proxy/supervise.h"
#include "net/line.h"
#include "net/privileges.h"
#include "net/systemd.h"
#include "proxy/front/listen.h"

/* ===== what it inherits ===== */

/* Sockets that systemd has passed go into the table, by their number. */
static void take_from_systemd(struct kept *k)
{
    char name[32];
    int first = -1, n = systemd_listen_fds(&first);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, LISTEN_SYSTEMD, (unsigned)i);
        kept_put(k, name, first + i, DEP_SEATS);
    }
}

void station_alone(struct station *s)
{
    *s = (struct station){ .kept = { .line = -1 }, .memory = -1, .config = -1 };
    take_from_systemd(&s->kept);
}

/* One descriptor of the inventory. */
static void take(struct station *s, const char *name, int fd)
{
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (strcmp(name, INVENTORY_LINE) == 0)
        s->kept.line = fd;
    else if (strcmp(name, INVENTORY_MEMORY) == 0)
        s->memory = fd;
    else if (strcmp(name, INVENTORY_CONFIG) == 0)
        s->config = fd;
    else
        kept_put(&s->kept, name, fd, 0);
}

static bool word_is(const char *text, const char *word)
{
    size_t n = strlen(word);
    return strncmp(text, word, n) == 0 && (text[n] == ' ' || !text[n]);
}

static void set(char **to, const char *text)
{
    free(*to);
    *to = strdup(text);
}

bool identity_read(struct identity *id, const char *text)
{
    const char *blank = strchr(text, ' ');
    const char *value = blank ? blank + 1 : "";
    if (word_is(text, IDENTITY_USER))
        set(&id->user, value);
    else if (word_is(text, IDENTITY_GROUP))
        set(&id->group, value);
    else if (word_is(text, IDENTITY_SANDBOX))
        id->sandbox = true;
    else
        return false;
    return true;
}

void identity_done(struct identity *id)
{
    free(id->user);
    free(id->group);
    *id = (struct identity){ .user = NULL };
}

static int read_inventory(struct station *s, const char *text, size_t len)
{
    const char *end = text + len;
    int version = 0, again = 0, pid = 0;
    if (sscanf(text, INVENTORY_HEAD, &version, &s->seat, &s->others, &again,
               &pid) != 5 ||
        version != INVENTORY_VERSION || s->seat >= DEP_SEATS)
        return -1;
    s->again = again;
    s->supervisor = pid;
    for (text += strlen(text) + 1; text < end; text += strlen(text) + 1) {
        char *name;
        if (text[0] == '=') {
            identity_read(&s->as, text + 2);
            continue;
        }
        long fd = strtol(text, &name, 10);
        if (*name == ' ')
            take(s, name + 1, (int)fd);
    }
    return s->kept.line >= 0 ? 1 : -1;
}

int station_inherited(struct station *s)
{
    const char *number = getenv(INVENTORY_VARIABLE);
    int fd = number ? atoi(number) : -1, rc = -1;
    struct stat st;

    *s = (struct station){ .kept = { .line = -1 }, .memory = -1, .config = -1 };
    if (!number)
        return 0;
    unsetenv(INVENTORY_VARIABLE);
    if (fd < 3 || fstat(fd, &st) < 0 || st.st_size <= 0)
        return -1;
    char *text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (text == MAP_FAILED)
        return -1;
    if (text[st.st_size - 1] == '\0')
        rc = read_inventory(s, text, (size_t)st.st_size);
    munmap(text, (size_t)st.st_size);
    return rc;
}

/* systemd's watchdog names the process that it is for: the one that it knows,
 * on whose behalf we report. */
static void take_watchdog(const struct station *s)
{
    const char *pid = getenv("WATCHDOG_PID");
    char mine[16];
    if (!pid || atoi(pid) != s->supervisor)
        return;
    snprintf(mine, sizeof mine, "%d", (int)getpid());
    setenv("WATCHDOG_PID", mine, 1);
}

void station_enter(struct station *s)
{
    if (s->supervisor == 0)
        return;
    prctl(PR_SET_NAME, "bide-proxy");
    systemd_relay(s->kept.line);
    take_watchdog(s);
}

int station_become(const struct station *s)
{
    char err[512];
    if (!s->as.user ||
        privileges_drop(s->as.user, s->as.group, err, sizeof err) == 0)
        return 0;
    fprintf(stderr, "bide proxy: %s\n", err);
    return -1;
}

void station_tell_identity(const struct station *s,
                           const struct bide__proxy_conf *conf)
{
    if (s->supervisor == 0)
        return;
    if (conf->user)
        (void)line_send(s->kept.line, IDENTITY_USER, conf->user, -1);
    if (conf->group)
        (void)line_send(s->kept.line, IDENTITY_GROUP, conf->group, -1);
    if (conf->sandbox)
        (void)line_send(s->kept.line, IDENTITY_SANDBOX, "", -1);
}

void station_keep_config(const struct station *s, int text)
{
    if (text >= 0)
        kept_hold(&s->kept, INVENTORY_CONFIG, text);
}

void station_done(struct station *s)
{
    kept_clear(&s->kept);
    identity_done(&s->as);
    for (int *fd = (int[]){ s->kept.line, s->memory, s->config, -2 }; *fd != -2;
         fd++)
        if (*fd >= 0)
            close(*fd);
}

/* ===== signals ===== */

void station_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGHUP);
    sigaddset(set, SIGUSR1);
    sigaddset(set, SIGUSR2);
    sigaddset(set, SIGRTMIN);
    sigaddset(set, SIGRTMIN + 1);
}

/* Changing the user clears it, so it is set after that. The supervisor may have
 * died before. */
void station_watch_supervisor(const struct station *s)
{
    if (s->supervisor == 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGRTMIN + 1);
    if (getppid() != s->supervisor)
        raise(SIGRTMIN + 1);
}

/* What a signal means to this process; 0: nothing. */
static int meaning(const struct station *s, const siginfo_t *info)
{
    if (s->supervisor == 0 && info->si_signo == SIGUSR2)
        fprintf(stderr, "bide proxy: no upgrade without a supervisor "
                        "(`supervise: true`); restart it instead\n");
    if (s->supervisor == 0)
        return info->si_signo < SIGRTMIN && info->si_signo != SIGUSR2
                   ? info->si_signo
                   : 0;
    if (info->si_signo == SIGRTMIN)
        return info->si_pid == s->supervisor ? info->si_value.sival_int : 0;
    if (info->si_signo == SIGRTMIN + 1) {
        fprintf(stderr, "bide proxy: the supervisor is gone\n");
        return SIGTERM;
    }
    return info->si_code == SI_USER && info->si_pid == getpid() ? info->si_signo
                                                                : 0;
}

int station_wait(const struct station *s, const struct timespec *patience)
{
    sigset_t set;
    siginfo_t info;
    station_signals(&set);
    return sigtimedwait(&set, &info, patience) > 0 ? meaning(s, &info) : 0;
}
