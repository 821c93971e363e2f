/* A small redis-cli that outlives its server.
 *
 *     redis_reconnect HOST PORT         commands on standard input, one a line
 *
 * Each command is a call: the connection is made when it is needed, and a
 * failed attempt is made again if that does no harm. A GET can always go again.
 * An INCR goes again only if it was certainly not carried out: no connection,
 * or a server that is still loading. If the connection broke after it was sent,
 * nobody knows, and it is the user who has to decide: `not_idempotent`. */
#define _POSIX_C_SOURCE 200809L
#include <bide/bide.h>
#include <bide/run.h>
#include <errno.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>

enum { WORDS = 16 };

struct command {
    const char *host;
    int port;
    redisContext *redis; /* lives from command to command; or NULL */
    int n_words;
    const char *words[WORDS];
    redisReply *reply;
};

/* Twice has the same effect as once (but for SET ... NX). What is not known to
 * be so, is not. */
static bool is_idempotent(const char *word)
{
    static const char *const names[] = { "get",  "mget", "set",    "exists",
                                         "ping", "del",  "expire", "xread" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(word, names[i]) == 0)
            return true;
    return false;
}

static void disconnect(struct command *c)
{
    redisFree(c->redis);
    c->redis = NULL;
}

/* A server that went away while nobody asked is found out before anything is
 * sent, so that even an INCR is safe to go over a new connection. */
static bool is_gone(const redisContext *redis)
{
    char byte;
    ssize_t n = recv(redis->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n >= 0 || errno != EAGAIN; /* at its end, broken, or out of step */
}

static bide_outcome failed(struct command *c, bool not_sent)
{
    int err = c->redis && c->redis->err == REDIS_ERR_IO ? errno : ECONNRESET;
    bide_outcome out = bide_outcome_errno(err, not_sent);
    disconnect(c);
    return out;
}

static bide_outcome try_once(void *arg, const bide_attempt *attempt)
{
    struct command *c = arg;
    struct timeval limit = { attempt->timeout_ns / BIDE_SECOND,
                             attempt->timeout_ns % BIDE_SECOND / 1000 };
    if (c->redis && is_gone(c->redis))
        disconnect(c);
    if (!c->redis) {
        c->redis = redisConnectWithTimeout(c->host, c->port, limit);
        if (!c->redis || c->redis->err)
            return failed(c, true);
    }
    redisSetTimeout(c->redis, limit);
    freeReplyObject(c->reply);
    c->reply = redisCommandArgv(c->redis, c->n_words, c->words, NULL);
    if (!c->reply)
        return failed(c, false);
    if (c->reply->type != REDIS_REPLY_ERROR)
        return BIDE_OUTCOME_SUCCESS;
    bool loading = strncmp(c->reply->str, "LOADING", 7) == 0;
    return (bide_outcome){ .cls = loading ? BIDE_TRANSIENT : BIDE_PERMANENT,
                           .not_processed = true };
}

static void tell(void *ctx, const bide_decision *d, const bide_outcome *last,
                 int64_t now_ns)
{
    const struct command *c = ctx;
    if (d->action == BIDE_WAIT)
        printf("%s: %s, again in %.0f ms\n", c->words[0],
               bide_fault_name(last->fault), (double)(d->at_ns - now_ns) / 1e6);
}

static void run(bide_dep *dep, struct command *c)
{
    bide_run_result result;
    bide_run_opts opts = { .op = { .idempotent = is_idempotent(c->words[0]) },
                           .on_decision = tell,
                           .ctx = c,
                           .result = &result };
    bide_run(dep, try_once, c, &opts);
    printf("%s: %s at attempt %u", c->words[0], bide_reason_name(result.reason),
           result.attempts);
    if (c->reply && c->reply->type == REDIS_REPLY_INTEGER)
        printf(": %lld", c->reply->integer);
    else if (c->reply && c->reply->str)
        printf(": %s", c->reply->str);
    printf("\n");
    freeReplyObject(c->reply);
    c->reply = NULL;
}

int main(int argc, char **argv)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.attempts = 20;
    conf.backoff.cap_ns = BIDE_SECOND;
    conf.budget.floor_per_s = 5; /* one client, one server: it may insist */
    conf.breaker.kind = BIDE_BREAKER_OFF;
    bide_dep *dep;
    if (argc != 3 || bide_dep_new(&dep, "redis", &conf) < 0) {
        fprintf(stderr, "usage: %s HOST PORT\n", argv[0]);
        return 2;
    }
    struct command c = { .host = argv[1], .port = atoi(argv[2]) };
    char line[1024];
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN); /* hiredis writes to broken connections */
    while (fgets(line, sizeof line, stdin)) {
        char *word = strtok(line, " \n");
        c.n_words = 0;
        for (; word && c.n_words < WORDS; word = strtok(NULL, " \n"))
            c.words[c.n_words++] = word;
        if (c.n_words > 0)
            run(dep, &c);
    }
    disconnect(&c);
    bide_dep_free(dep);
    return 0;
}
