/* A queue inside of a program: orders are kept until they are cooked. No server is
 * needed, but one can be named: postgresql://..., redis://...  (Before bide is installed,
 * BIDE_MODULES=build/cmd is where the module for PostgreSQL is found.)
 *
 *   queue sqlite:orders.db put 'two pizzas' 'one salad' burnt unknown
 *   queue sqlite:orders.db cook              until Ctrl-C
 *   queue sqlite:orders.db cook --all        until nothing is left
 *
 * What is `burnt` is cooked again, what is `unknown` never will be; while there is
 * a file `closed`, the kitchen is, and orders wait without losing an attempt. */
#define _GNU_SOURCE
#include <bide/policy.h>
#include <bide/queue.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bide_queue_worker *worker; /* for the signal handler */

/* Called on several threads. */
static bide_outcome cook(void *ctx, const bide_queue_message *m)
{
    (void)ctx;
    if (access("closed", F_OK) == 0) {
        bide_queue_error(m, "the kitchen is closed");
        return bide_queue_away();
    }
    if (strcmp(m->body, "burnt") == 0 && m->attempt == 1) {
        bide_queue_error(m, "it is black");
        return bide_queue_retry();
    }
    if (strcmp(m->body, "unknown") == 0) {
        bide_queue_error(m, "not on the menu");
        return bide_queue_dead();
    }
    for (int i = 0; strcmp(m->body, "stew") == 0 && i < 600; i++) {
        if (bide_queue_stopping(m))
            return bide_queue_given_back();
        usleep(100000);
    }
    printf("cooked %s (attempt %u, %s)\n", m->body, m->attempt,
           m->idempotency_key);
    fflush(stdout);
    return bide_queue_done();
}

static void tell(void *ctx, const bide_queue_event *e)
{
    (void)ctx;
    if (e->kind == BIDE_QUEUE_PAUSED)
        fprintf(stderr, "paused: %s\n", e->text);
    else if (e->kind == BIDE_QUEUE_RESUMED)
        fprintf(stderr, "goes on\n");
    else if (e->kind == BIDE_QUEUE_BROKER_AWAY)
        fprintf(stderr, "broker: %s\n", e->text);
    else if (e->kind == BIDE_QUEUE_ENDED && e->end == BIDE_QUEUE_IS_DEAD)
        fprintf(stderr, "dead: %s (%s)\n", e->message->body, e->text);
    else if (e->kind == BIDE_QUEUE_ENDED && e->end == BIDE_QUEUE_IS_RETRIED)
        fprintf(stderr, "again: %s (%s)\n", e->message->body, e->text);
}

static void stop(int number)
{
    (void)number;
    bide_queue_worker_stop(worker);
}

static int fail(const char *why)
{
    fprintf(stderr, "queue: %s\n", why);
    return 1;
}

static int put(bide_queue *queue, int n, char **orders)
{
    char why[BIDE_QUEUE_WHY];
    for (int i = 0; i < n; i++) {
        bide_queue_item item = { .body = orders[i], .len = strlen(orders[i]) };
        if (bide_queue_put(queue, &item, 1, why) < 0)
            return fail(why);
        printf("queued %s\n", item.queued_id);
    }
    return 0;
}

/* By the preset `queue`, with shorter waits: people are hungry. */
static int make_policy(bide_dep **ret)
{
    bide_policy_conf policy;
    int rc = bide_policy_preset(&policy, "queue");
    policy.backoff.base_ns = BIDE_SECOND / 2;
    policy.backoff.cap_ns = BIDE_MINUTE;
    return rc < 0 ? rc : bide_dep_new(ret, "kitchen", &policy);
}

static int work(bide_queue *queue, bool all)
{
    bide_queue_worker_conf conf = BIDE_QUEUE_WORKER_CONF_INIT;
    bide_queue_stats stats;
    bide_dep *dep;
    char why[BIDE_QUEUE_WHY];
    if (make_policy(&dep) < 0)
        return fail("no policy");
    conf.handler = cook;
    conf.on_event = tell;
    conf.dep = dep;
    conf.drain_ns = 5 * BIDE_SECOND;
    conf.until_empty = all;
    if (bide_queue_worker_new(&worker, queue, &conf, why) < 0) {
        bide_dep_free(dep);
        return fail(why);
    }
    signal(SIGTERM, stop);
    signal(SIGINT, stop);
    bide_queue_worker_run(worker);
    bide_queue_worker_stats_get(worker, &stats);
    printf("%llu done, %llu dead\n", (unsigned long long)stats.done,
           (unsigned long long)stats.dead);
    signal(SIGTERM, SIG_DFL); /* before `worker` is gone */
    signal(SIGINT, SIG_DFL);
    bide_queue_worker_free(worker);
    bide_dep_free(dep);
    return 0;
}

int main(int argc, char **argv)
{
    bide_queue_conf conf = BIDE_QUEUE_CONF_INIT;
    bide_queue *queue;
    char why[BIDE_QUEUE_WHY];
    bool cooks = argc > 2 && strcmp(argv[2], "cook") == 0;
    if (argc < 3 || (!cooks && strcmp(argv[2], "put") != 0))
        return fail("expected BROKER put ORDER..., or BROKER cook [--all]");
    conf.broker = argv[1];
    conf.name = "orders";
    if (bide_queue_open(&queue, &conf, why) < 0)
        return fail(why);
    int rc = cooks ? work(queue, argc > 3 && strcmp(argv[3], "--all") == 0)
                   : put(queue, argc - 3, argv + 3);
    bide_queue_close(queue);
    return rc;
}
