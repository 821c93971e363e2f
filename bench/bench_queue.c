/* The queue in SQLite, and the worker on it:
 *
 *   - messages a second with a C function as the handler, beside a loop that takes and
 *     settles batches through the same broker, with the same durability;
 *   - commands, beside xargs -P.
 *
 * The same beside a loop that does not use our broker, latency and idleness:
 * broker_loops.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bide/policy.h"
#include "bide/queue.h"
#include "bide/run.h"
#include "queue/broker.h"
#include "queue/callback.h"
#include "queue/command.h"
#include "queue/worker.h"

static char folder[64];

static void die(const char *why)
{
    fprintf(stderr, "bench_queue: %s\n", why);
    exit(1);
}

static struct broker *open_queue(const char *name)
{
    struct broker_conf conf = BROKER_CONF_INIT;
    char error[BROKER_ERROR], url[128];
    struct broker *b;

    snprintf(url, sizeof url, "sqlite:%s/bench.db", folder);
    conf.url = url;
    conf.queue = name;
    conf.consume = true;
    if (broker_open(&b, &conf, error) != 0)
        die(error);
    return b;
}

static void fill(struct broker *b, int n)
{
    static struct broker_put items[1000];
    char body[100];

    memset(body, 'x', sizeof body);
    for (int i = 0; i < n;) {
        int some = n - i < 1000 ? n - i : 1000;
        for (int j = 0; j < some; j++)
            items[j] =
                (struct broker_put){ .body = body, .len = sizeof body };
        if (b->kind->put(b, items, (size_t)some) != 0)
            die(b->error);
        i += some;
    }
}

static double since(int64_t begin)
{
    return (double)(bide_now_ns() - begin) / 1e9;
}

/* ===== the broker's verbs ===== */

static double verbs(const char *name, int n, size_t batch)
{
    struct broker *b = open_queue(name);
    struct queue_message *m[128];
    struct broker_end ends[128];
    struct broker_take want = { .most = batch, .retries = batch, .alone = true };
    size_t held = 0;

    fill(b, n);
    int64_t begin = bide_now_ns();
    do { /* one commit: what was taken before is done, more is taken */
        for (size_t i = 0; i < held; i++)
            ends[i] = (struct broker_end){ .message = m[i], .how = BROKER_DONE };
        if (b->kind->begin(b) != 0 || b->kind->settle(b, ends, held) != 0)
            die(b->error);
        for (size_t i = 0; i < held; i++)
            queue_message_free(m[i]);
        if (b->kind->take(b, &want, m) != 0 || b->kind->commit(b) != 0)
            die(b->error);
        held = want.n;
    } while (held > 0);
    double took = since(begin);
    broker_close(b);
    return n / took;
}

/* ===== the worker ===== */

static bide_outcome nothing(void *ctx, const struct queue_job *job)
{
    (void)ctx, (void)job;
    return (bide_outcome){ .cls = BIDE_SUCCESS };
}

static bide_dep *new_dep(void)
{
    bide_policy_conf conf;
    bide_dep *dep;

    if (bide_policy_preset(&conf, "queue") < 0 ||
        bide_dep_new(&dep, "bench", &conf) < 0)
        die("no dependency");
    return dep;
}

static struct queue_worker *new_worker(struct broker *b, bide_dep *dep,
                                       const struct queue_handler *h,
                                       uint32_t at_once, uint32_t ahead,
                                       bool until_empty)
{
    static bide_rng_seeded seeded;
    static bide_rng rng;
    struct queue_worker_conf conf = QUEUE_WORKER_CONF_INIT;

    rng = bide_rng_seed(&seeded, 1);
    conf.broker = b;
    conf.dep = dep;
    conf.handler = h;
    conf.at_once = at_once;
    conf.ahead = ahead;
    conf.deep = h->kind == &queue_callback_kind;
    conf.until_empty = until_empty;
    conf.rng = &rng;
    struct queue_worker *w = queue_worker_new(&conf);
    if (!w)
        die("no worker");
    return w;
}

static double with_worker(const char *name, int n, const struct queue_handler *h,
                          uint32_t at_once, uint32_t ahead)
{
    struct broker *b = open_queue(name);
    bide_dep *dep = new_dep();

    fill(b, n);
    struct queue_worker *w = new_worker(b, dep, h, at_once, ahead, true);
    int64_t begin = bide_now_ns();
    queue_worker_run(w);
    double took = since(begin);
    queue_worker_free(w);
    bide_dep_free(dep);
    broker_close(b);
    return n / took;
}

/* ===== the library, as a program uses it ===== */

static bide_outcome done(void *ctx, const bide_queue_message *m)
{
    (void)ctx, (void)m;
    return bide_queue_done();
}

static double with_library(const char *name, int n)
{
    bide_queue_conf conf = BIDE_QUEUE_CONF_INIT;
    bide_queue_worker_conf work = BIDE_QUEUE_WORKER_CONF_INIT;
    struct broker *b = open_queue(name);
    char url[128], why[BIDE_QUEUE_WHY];
    bide_queue *queue;
    bide_queue_worker *worker;

    fill(b, n);
    broker_close(b);
    snprintf(url, sizeof url, "sqlite:%s/bench.db", folder);
    conf.broker = url;
    conf.name = name;
    work.handler = done;
    work.until_empty = true;
    if (bide_queue_open(&queue, &conf, why) < 0 ||
        bide_queue_worker_new(&worker, queue, &work, why) < 0)
        die(why);
    int64_t begin = bide_now_ns();
    bide_queue_worker_run(worker);
    double took = since(begin);
    bide_queue_worker_free(worker);
    bide_queue_close(queue);
    return n / took;
}

static double xargs(int n, int places)
{
    char command[160];

    snprintf(command, sizeof command,
             "seq %d | xargs -P %d -n 1 /bin/true", n, places);
    int64_t begin = bide_now_ns();
    if (system(command) != 0)
        die("xargs");
    return n / since(begin);
}

int main(int argc, char **argv)
{
    bool brief = argc > 1 && strcmp(argv[1], "--brief") == 0;
    int n = brief ? 5000 : 100000, commands = brief ? 400 : 4000;
    struct queue_callback c = { { &queue_callback_kind }, nothing, NULL };
    struct queue_command command = QUEUE_COMMAND_INIT;
    char program[] = "/bin/true", cleaning[96];
    char *arguments[] = { program, NULL };
    const char *tmp = getenv("TMPDIR");

    snprintf(folder, sizeof folder, "%.40s/bide-bench-XXXXXX",
             tmp ? tmp : "/tmp");
    if (!mkdtemp(folder))
        die("no folder");
    double ten = verbs("ten", n / 10, 10), hundred = verbs("hundred", n, 100);
    double worker = with_worker("worker", n, &c.handler, 16, 112);
    printf("verbs, batches of 10  %8.0f messages/s\n", ten);
    printf("verbs, batches of 100 %8.0f messages/s\n", hundred);
    printf("worker, C function    %8.0f messages/s, %.0f %% of the verbs\n",
           worker, worker / hundred * 100);
    double library = with_library("library", n);
    printf("libbide-queue         %8.0f messages/s, %.0f %% of the verbs\n",
           library, library / hundred * 100);
    command.argv = arguments;
    double ours = with_worker("commands", commands, &command.handler, 4, 4);
    double theirs = xargs(commands, 4);
    printf("worker, /bin/true     %8.0f commands/s\n", ours);
    printf("xargs -P 4 /bin/true  %8.0f commands/s; worker %.0f %% of it\n",
           theirs, ours / theirs * 100);
    snprintf(cleaning, sizeof cleaning, "rm -rf %s", folder);
    return system(cleaning) != 0;
}
