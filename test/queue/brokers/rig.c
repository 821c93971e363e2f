/* Rows, workers in other processes, and steps that end a row. */
#include "test/queue/brokers/rig.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static jmp_buf out_of_row;
static int rows, failures;
static const char *skipped; /* why the row was */
static struct broker *opened[16];
static size_t n_opened;
static pid_t children[16];
static size_t n_children;

/* ===== results ===== */

void rig_expect(bool true_, const char *file, int line, const char *format, ...)
{
    va_list args;

    if (true_)
        return;
    printf("# %s:%d: not so: ", file, line);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
    longjmp(out_of_row, 1);
}

void rig_skip(const char *why)
{
    skipped = why;
    longjmp(out_of_row, 1);
}

static void clean_up(void)
{
    while (n_children > 0) {
        pid_t pid = children[--n_children];
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    while (n_opened > 0)
        broker_close(opened[--n_opened]);
}

void rig_another_queue(struct rig *r)
{
    size_t len = strlen(r->queue) - strlen(r->suffix);

    snprintf(r->queue + len, sizeof r->queue - len, "-b%s", r->suffix);
    if (r->has_server)
        rig_ask("queue %s", r->queue);
}

/* In a list with commas. */
static bool is_listed(const char *list, const char *name)
{
    size_t len = strlen(name);

    for (const char *at = list; (at = strstr(at, name)) != NULL; at += len)
        if ((at == list || at[-1] == ',') && (!at[len] || at[len] == ','))
            return true;
    return false;
}

void rig_row(struct rig *r, const char *name, void (*row)(struct rig *r))
{
    struct broker_conf conf = r->conf;
    const char *only = getenv("BIDE_ROW");

    if (only && !is_listed(only, name))
        return;
    rows++;
    snprintf(r->queue, sizeof r->queue, "row%d-%d%s", rows, (int)getpid(),
             r->suffix);
    r->conf.queue = r->queue;
    r->conf.url = r->url;
    if (setjmp(out_of_row) == 0) {
        if (r->has_server)
            rig_ask("queue %s", r->queue);
        row(r);
        printf("ok %d - %s\n", rows, name);
    } else if (skipped) {
        printf("ok %d - %s # SKIP %s\n", rows, name, skipped);
        skipped = NULL;
    } else {
        failures++;
        printf("not ok %d - %s\n", rows, name);
    }
    fflush(stdout);
    clean_up();
    r->conf = conf;
}

int rig_finish(void)
{
    printf("1..%d\n", rows);
    return failures ? 1 : 0;
}

const char *rig_ask(const char *format, ...)
{
    static char line[256];
    va_list args;

    printf("!ask ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
    expect(fgets(line, sizeof line, stdin) != NULL, "an answer");
    expect(strncmp(line, "ok", 2) == 0, "it was done: %s", line);
    return line + 2;
}

/* ===== time ===== */

int64_t rig_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * RIG_S + t.tv_nsec;
}

void rig_sleep(int64_t ns)
{
    struct timespec t = { ns / RIG_S, ns % RIG_S };

    nanosleep(&t, NULL);
}

/* ===== a queue in this process ===== */

static struct broker *open_as(struct rig *r, bool consume)
{
    char why[BROKER_ERROR] = "";
    struct broker *b = NULL;
    struct broker_conf conf = r->conf;

    conf.consume = consume;
    expect(broker_open(&b, &conf, why) == 0, "%s opens: %s", r->url, why);
    opened[n_opened++] = b;
    return b;
}

struct broker *rig_producer(struct rig *r)
{
    return open_as(r, false);
}

struct broker *rig_join(struct rig *r)
{
    return open_as(r, true);
}

void rig_close(struct broker *b)
{
    for (size_t i = 0; i < n_opened; i++)
        if (opened[i] == b)
            opened[i] = opened[--n_opened];
    broker_close(b);
}

struct broker *rig_open(struct rig *r)
{
    struct broker *b = rig_join(r);
    struct queue_message *m;
    struct broker_take want = { .most = 1 };
    int64_t end = rig_now() + PATIENCE_NS;
    int status;

    /* a server may be busy with what somebody else has just made there */
    while ((status = b->kind->take(b, &want, &m)) == BROKER_DOWN && rig_now() < end)
        rig_sleep(100 * RIG_MS);
    expect(status == 0 && want.n == 0, "it is empty: %s", b->error);
    return b;
}

void rig_put_one(struct broker *b, struct broker_put *p)
{
    if (!p->body) {
        p->body = p->id ? p->id : "m";
        p->len = 1;
    }
    expect(b->kind->put(b, p, 1) == 0, "it is put: %s", b->error);
}

size_t rig_take(struct broker *b, struct queue_message **to, size_t most)
{
    struct broker_take want = { .most = most, .retries = most };

    expect(b->kind->take(b, &want, to) == 0, "a take: %s", b->error);
    expect(want.n <= most, "%zu of %zu", want.n, most);
    return want.n;
}

struct queue_message *rig_take_one(struct broker *b, bool wait)
{
    struct queue_message *m = NULL;
    int64_t end = rig_now() + PATIENCE_NS;

    while (rig_take(b, &m, 1) == 0) {
        if (!wait)
            return NULL;
        expect(rig_now() < end, "a message comes");
        rig_sleep(20 * RIG_MS);
    }
    return m;
}

const char *rig_key(const struct broker *b, const char *key)
{
    return b->traits.has_keys ? key : NULL;
}

int rig_priority(const struct broker *b, int priority)
{
    return b->traits.has_priorities ? priority : 0;
}

void rig_settle_one(struct broker *b, struct broker_end *end)
{
    expect(b->kind->settle(b, end, 1) == 0, "it settles: %s", b->error);
    expect(end->result == BROKER_SETTLED, "it is ours: %s", end->message->id);
    queue_message_free(end->message);
}

struct broker_rescued rig_rescue(struct broker *b, size_t messages)
{
    struct broker_rescued sum = { 0, 0, 0 };
    int64_t end = rig_now() + PATIENCE_NS;

    for (;;) {
        struct broker_rescued r = { 0, 0, 0 };
        expect(b->kind->rescue(b, &r) == 0, "a rescue: %s", b->error);
        sum.workers += r.workers;
        sum.messages += r.messages;
        sum.dead += r.dead;
        if (sum.messages >= messages)
            return sum;
        expect(rig_now() < end, "%zu are rescued, not %zu", messages,
               sum.messages);
        rig_sleep(100 * RIG_MS);
    }
}

struct broker_counts rig_counts(struct broker *b)
{
    struct broker_counts c;

    expect(b->kind->counts(b, &c) == 0, "counts: %s", b->error);
    return c;
}

bool rig_is_over(struct broker *b, struct broker *other)
{
    struct broker_rescued got;
    int64_t end = rig_now() + PATIENCE_NS;

    while (rig_now() < end) {
        struct broker_counts c = rig_counts(b);
        if (c.waiting + c.held + c.later + c.running + c.dead == 0)
            return true;
        expect(other->kind->rescue(other, &got) == 0, "rescue: %s", other->error);
        rig_sleep(100 * RIG_MS);
    }
    return false;
}

/* ===== a worker in another process ===== */

struct order {
    char verb;
    int n;
};

static int end_all(struct broker *b, struct queue_message **held, int n,
                   char verb)
{
    struct broker_end ends[RIG_MOST];
    int lost = 0;

    memset(ends, 0, sizeof ends);
    for (int i = 0; i < n; i++) {
        ends[i].message = held[i];
        ends[i].how = verb == 'd'   ? BROKER_DONE
                      : verb == 'a' ? BROKER_AGAIN
                                    : BROKER_DEAD;
        ends[i].reason = "attempts";
        ends[i].cls = "transient";
        ends[i].ran = true;
    }
    if (b->kind->settle(b, ends, (size_t)n) != 0)
        return -1;
    for (int i = 0; i < n; i++) {
        lost += ends[i].result == BROKER_LOST;
        queue_message_free(held[i]);
    }
    return lost;
}

/* Of a partitioned queue, another process sees a put a moment later: it waits for
 * the first, and then for more. A key that stays with its worker has to find one. */
static int take_most(struct broker *b, int most, struct queue_message **held,
                     int *n)
{
    const int had = *n;
    int64_t end = rig_now() + b->traits.keys_stay * PATIENCE_NS / 6;

    do {
        struct broker_take want = { .most = (size_t)(had + most - *n),
                                    .retries = (size_t)(had + most - *n),
                                    .alone = *n == 0 };
        if (b->kind->take(b, &want, held + *n) != 0)
            return -1;
        *n += (int)want.n;
        if (want.n > 0)
            end = rig_now() + b->traits.partitioned * RIG_S;
        rig_sleep(b->traits.keys_stay * 20 * RIG_MS);
    } while (*n < had + most && rig_now() < end);
    return *n - had;
}

static int obey(struct broker *b, struct order o, struct queue_message **held,
                int *n)
{
    int answer = 0;

    if (o.verb == 't')
        return take_most(b, o.n, held, n);
    if (o.verb == 'b') {
        if (b->kind->beat(b, held, (size_t)*n) != 0)
            return -1;
        for (int i = 0; i < *n; i++)
            answer += held[i]->lost;
        return answer;
    }
    answer = end_all(b, held, *n, o.verb);
    *n = 0;
    return answer;
}

/* Takes nothing; a group that shares partitions hears of it. */
static int stay(struct broker *b)
{
    struct broker_take none = { .most = 0 };
    struct queue_message *m;

    return b->kind->take(b, &none, &m);
}

/* Until it is told, a worker takes part in the group, so that others can join. */
static bool next_order(struct broker *b, int fd, struct order *to)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    while (b->traits.partitioned && poll(&p, 1, 50) == 0)
        (void)stay(b);
    return read(fd, to, sizeof *to) == sizeof *to;
}

/* The other process: opens the queue, and does as it is told. */
static void serve(const struct broker_conf *given, int fd)
{
    char why[BROKER_ERROR];
    struct broker *b;
    struct broker_conf conf = *given;
    struct queue_message *held[RIG_MOST];
    struct order o;
    int n = 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    conf.consume = true;
    int answer = broker_open(&b, &conf, why);
    if (answer == 0 && b->traits.partitioned) /* it has its share before others come */
        answer = stay(b);
    while (write(fd, &answer, sizeof answer) == sizeof answer && answer >= -1 &&
           next_order(b, fd, &o) && o.verb != 'c')
        answer = obey(b, o, held, &n);
    broker_close(b);
    answer = 0;
    _exit(write(fd, &answer, sizeof answer) == sizeof answer ? 0 : 1);
}

static int hear(struct rig_worker *w)
{
    int answer;

    expect(read(w->fd, &answer, sizeof answer) == sizeof answer,
           "the other process answers");
    return answer;
}

struct rig_worker rig_worker(struct rig *r)
{
    struct rig_worker w;
    int fds[2];

    expect(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0,
           "a pair of sockets");
    fflush(stdout);
    w.pid = fork();
    if (w.pid == 0) {
        close(fds[0]);
        serve(&r->conf, fds[1]);
    }
    close(fds[1]);
    w.fd = fds[0];
    expect(w.pid > 0, "another process");
    children[n_children++] = w.pid;
    expect(hear(&w) == 0, "it opens the queue");
    return w;
}

int rig_tell(struct rig_worker *w, char verb, int n)
{
    struct order o;

    memset(&o, 0, sizeof o);
    o.verb = verb;
    o.n = n;
    expect(write(w->fd, &o, sizeof o) == sizeof o, "it listens");
    return hear(w);
}

void rig_kill(struct rig_worker *w)
{
    kill(w->pid, SIGKILL);
    waitpid(w->pid, NULL, 0);
    for (size_t i = 0; i < n_children; i++)
        if (children[i] == w->pid)
            children[i] = children[--n_children];
    close(w->fd);
}
