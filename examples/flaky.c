/* A dozen calls to a server that is anything but reliable.
 *
 * The server is a thread of this program, on loopback. It is slow to start, and
 * then answers, stalls or breaks off as its dice say. The client is a plain
 * socket. bide sits between them: each line shows what an attempt came to, and
 * what was decided then. */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <bide/bide.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * BIDE_SECOND + t.tv_nsec;
}

static void sleep_until(int64_t at_ns)
{
    struct timespec t = { at_ns / BIDE_SECOND, at_ns % BIDE_SECOND };
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* ===== the server ===== */

static struct sockaddr_in address = { .sin_family = AF_INET };
static int listener;

enum { OK_SHARE = 3, N_ANSWERS = 7 };

static const char *const answers[N_ANSWERS] = {
    "HTTP/1.1 200 OK\r\n\r\n",
    "HTTP/1.1 404 Not Found\r\n\r\n",
    "HTTP/1.1 500 Internal Server Error\r\n\r\n",
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n\r\n",
    "HTTP/1.1 429 Too Many Requests\r\nretry-after-ms: 200\r\n\r\n",
    "stall",
    "reset",
};

static void answer(int fd, const char *text)
{
    char request[512];
    ssize_t n = recv(fd, request, sizeof request, 0);
    if (strcmp(text, "stall") == 0)
        sleep_until(clock_ns() + 300 * BIDE_MILLISECOND);
    else if (strcmp(text, "reset") == 0)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 0 },
                   sizeof(struct linger));
    else if (n > 0)
        send(fd, text, strlen(text), MSG_NOSIGNAL);
    close(fd);
}

static void *serve(void *arg)
{
    bide_rng_seeded state;
    bide_rng dice = bide_rng_seed(&state, *(uint64_t *)arg);
    sleep_until(clock_ns() + 100 * BIDE_MILLISECOND); /* connections fail */
    listen(listener, 16);
    for (;;) {
        int64_t n = bide_rng_between(&dice, 1 - OK_SHARE, N_ANSWERS - 1);
        answer(accept(listener, NULL, NULL), answers[n > 0 ? n : 0]);
    }
    return NULL;
}

static bool start_server(uint64_t *seed)
{
    pthread_t thread;
    socklen_t len = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    return bind(listener, (void *)&address, len) == 0 &&
           getsockname(listener, (void *)&address, &len) == 0 &&
           pthread_create(&thread, NULL, serve, seed) == 0;
}

/* ===== the client ===== */

/* Classifies an answer by its status and by what its header says of retries. */
static bide_outcome read_answer(const bide_dep *dep, const char *text)
{
    bide_header header[8];
    bide_response r = { .headers = header, .wall_s = time(NULL) };
    if (sscanf(text, "HTTP/1.1 %d", &r.status) != 1)
        r.fault = BIDE_FAULT_MALFORMED;
    while ((text = strchr(text, '\n')) != NULL && r.n_headers < 8) {
        size_t name = strcspn(++text, ":"), line = strcspn(text, "\r");
        bide_header h = { text, name, text + name + 1, line - name - 1 };
        if (name < line)
            header[r.n_headers++] = h;
    }
    return bide_classify(dep, &r);
}

/* One attempt: connects, asks, reads to the end. */
static bide_outcome ask(const bide_dep *dep, const char *method,
                        int64_t timeout_ns)
{
    struct timeval limit = { timeout_ns / BIDE_SECOND,
                             timeout_ns % BIDE_SECOND / 1000 };
    char text[1024];
    size_t len = 0;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ssize_t n = connect(fd, (void *)&address, sizeof address);
    bool sent = n == 0;
    if (sent) {
        snprintf(text, sizeof text, "%s / HTTP/1.1\r\n\r\n", method);
        n = send(fd, text, strlen(text), MSG_NOSIGNAL);
    }
    while (n > 0 && (n = recv(fd, text + len, sizeof text - 1 - len, 0)) > 0)
        len += (size_t)n;
    int err = n == 0 ? ECONNRESET : errno == EAGAIN ? ETIMEDOUT : errno;
    close(fd);
    text[len] = '\0';
    return n < 0 || len == 0 ? bide_outcome_errno(err, !sent)
                             : read_answer(dep, text);
}

/* ===== the calls ===== */

static void show(int call, const char *method, uint32_t attempt,
                 const bide_outcome *out, const bide_decision *d)
{
    char came_to[32] = "-";
    if (attempt != 0)
        snprintf(came_to, sizeof came_to, "#%u %.0d%s", attempt, out->status,
                 out->status != 0 ? "" : bide_fault_name(out->fault));
    printf("call %2d  %-4s  %-11s", call, method, came_to);
    if (d->action == BIDE_WAIT)
        printf("  wait %4.0f ms", (double)(d->at_ns - clock_ns()) / 1e6);
    else
        printf("  %-12s", d->reason == BIDE_BECAUSE_SUCCESS ? "ok" : "give up");
    printf("  %s: %s\n", bide_reason_name(d->reason),
           bide_reason_text(d->reason));
}

static void make_call(bide_dep *dep, int number)
{
    const char *method = number % 4 == 0 ? "POST" : "GET";
    bide_op op = { .idempotent = bide_method_idempotent(method) };
    bide_outcome out = { .cls = BIDE_SUCCESS };
    uint32_t attempt = 0;
    bide_call call;
    bide_call_begin(&call, dep, &op, clock_ns());
    for (;;) {
        bide_decision d = bide_call_next(&call, clock_ns());
        if (d.action != BIDE_TRY)
            show(number, method, attempt, &out, &d);
        if (d.action == BIDE_DONE)
            break;
        if (d.action == BIDE_WAIT) {
            sleep_until(d.at_ns);
            continue;
        }
        attempt = d.attempt;
        out = ask(dep, method, d.timeout_ns);
        bide_call_report(&call, attempt, &out, clock_ns());
    }
    bide_call_end(&call, clock_ns());
}

static void show_statistics(const bide_dep *dep)
{
    bide_stats s;
    bide_dep_stats(dep, clock_ns(), &s);
    printf("\n%d calls: %d worked at once, %d after retries, %d failed\n",
           (int)s.calls, (int)s.first_successes, (int)s.late_successes,
           (int)s.failures);
    printf("%.2f attempts per call; %d more retries allowed; breaker %s\nended "
           "by:",
           bide_stats_amplification(&s), (int)s.budget_left,
           bide_breaker_state_name(s.breaker));
    for (int r = 0; r < BIDE_N_REASONS; r++)
        if (s.done[r] != 0)
            printf(" %s %d", bide_reason_name((bide_reason)r), (int)s.done[r]);
    printf("\n");
}

int main(void)
{
    uint64_t seed = 121; /* the same dice and the same waits in each run */
    bide_host host = { .seed = &seed };
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.attempt_timeout_ns = 200 * BIDE_MILLISECOND;
    conf.breaker.consecutive = 4;
    conf.breaker.open_ns = 300 * BIDE_MILLISECOND;
    bide_dep *dep;
    int rc = bide_dep_new_in(&dep, "flaky", &conf, &host);
    if (rc < 0 || !start_server(&seed)) {
        fprintf(stderr, "flaky: %s\n", rc < 0 ? bide_strerror(rc) : "no port");
        return 1;
    }
    for (int number = 1; number <= 12; number++) {
        make_call(dep, number);
        sleep_until(clock_ns() + 100 * BIDE_MILLISECOND);
    }
    show_statistics(dep);
    bide_dep_free(dep);
    return 0;
}
