/* A payment server: POST /pay charges, and says so. On its own it charges for each
 * request, also for one that is repeated because the answer was lost. Behind `bide
 * proxy`, or with libbide-store inside, it charges once for each Idempotency-Key:
 *
 *   payments 8000
 *   payments 8000 --store sqlite:payments.db */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <bide/store.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bide_store *store; /* NULL: every request is a charge */
static atomic_int charges;

struct request {
    char text[16384], *body, key[256]; /* text is head and body */
    size_t body_len;
};

/* Copies the value of a field, without quotes; else it is empty. */
static void field(const char *head, const char *name, char *to, size_t size)
{
    size_t n = strlen(name);
    *to = '\0';
    for (const char *at = head; (at = strstr(at, "\r\n")) != NULL; at += 2)
        if (strncasecmp(at + 2, name, n) == 0) {
            at += 2 + n + strspn(at + 2 + n, " \t\"");
            snprintf(to, size, "%.*s", (int)strcspn(at, "\"\r\n"), at);
            return;
        }
}

/* Reads the next request of a connection; false: there is none. */
static bool read_request(int fd, struct request *r)
{
    char length[16];
    r->body = NULL;
    for (size_t len = 0; len < sizeof r->text - 1;) {
        ssize_t n = read(fd, r->text + len, sizeof r->text - 1 - len);
        if (n <= 0)
            return false;
        len += (size_t)n;
        r->text[len] = '\0';
        if (!r->body && (r->body = strstr(r->text, "\r\n\r\n")) != NULL) {
            r->body += 4;
            field(r->text, "Content-Length:", length, sizeof length);
            field(r->text, "Idempotency-Key:", r->key, sizeof r->key);
            r->body_len = strtoul(length, NULL, 10);
        }
        if (r->body && r->body_len <= len - (size_t)(r->body - r->text))
            return true;
    }
    return false;
}

static void reply(int fd, int status, const char *more, const char *body)
{
    dprintf(fd,
            "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\n"
            "Content-Length: %zu\r\n%s\r\n%s",
            status, status == 201 ? "Created" : "Refused", strlen(body), more,
            body);
}

/* The effect: what must not happen twice. */
static int charge(void)
{
    int n = ++charges;
    printf("charge %d\n", n);
    return n;
}

static void reply_charged(int fd, int n, const char *more)
{
    char fields[128], body[32];
    snprintf(fields, sizeof fields, "Location: /charges/%d\r\n%s", n, more);
    snprintf(body, sizeof body, "{\"charge\":%d}", n);
    reply(fd, 201, fields, body);
}

/* Claim, charge, complete. What is kept as the answer is ours to choose. */
static void pay_once(int fd, const struct request *r)
{
    bide_store_op op = BIDE_STORE_OP_INIT;
    op.scope = "/pay";
    op.key = r->key;
    bide_store_sha256(op.fingerprint, r->body, r->body_len);
    if (bide_store_do(store, &op) < 0) {
        reply(fd, 400, "", "\"send an Idempotency-Key\"");
    } else if (op.result == BIDE_STORE_FIRST) {
        int n = charge();
        bide_store_complete(store, &op, 201, &n, sizeof n);
        reply_charged(fd, n, "");
    } else if (op.result == BIDE_STORE_DONE && op.len == sizeof(int)) {
        reply_charged(fd, *(const int *)op.data, "Idempotent-Replayed: true\r\n");
    } else {
        char body[64];
        bool away = op.result == BIDE_STORE_DOWN || op.result == BIDE_STORE_FULL;
        snprintf(body, sizeof body, "\"%s\"", bide_store_result_name(op.result));
        int no = op.result == BIDE_STORE_MISMATCH ? 422 : away ? 503 : 409;
        reply(fd, no, "", body);
    }
    bide_store_op_done(&op);
}

static void *serve(void *arg)
{
    struct request r;
    int fd = (int)(intptr_t)arg;
    while (read_request(fd, &r))
        if (store)
            pay_once(fd, &r);
        else
            reply_charged(fd, charge(), "");
    close(fd);
    return NULL;
}

int main(int argc, char **argv)
{
    char why[256] = "";
    int port = atoi(argc > 1 ? argv[1] : "8000"), one = 1;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 3 && strcmp(argv[2], "--store") == 0 &&
        bide_store_open(&store, argv[3], NULL, why, sizeof why) < 0) {
        fprintf(stderr, "payments: %s\n", why);
        return 2;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, 64) < 0)
        return perror("payments"), 2;
    printf("http://127.0.0.1:%d/pay\n", port);
    for (pthread_t thread;;) {
        intptr_t client = accept(fd, NULL, NULL);
        if (client >= 0 && !pthread_create(&thread, NULL, serve, (void *)client))
            pthread_detach(thread);
    }
}
