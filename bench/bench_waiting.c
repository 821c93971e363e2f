/* What a call costs that waits in the multi driver of libbide-curl: bytes of
 * its own, bytes of libcurl's, and the time to be rid of it.
 *
 * The tests' fault server tells every one to come again in an hour. */
#include <dirent.h>
#include <malloc.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "bide/curl.h"
#include "fault/start.h"

enum { WAITING = 100000 };

/* ===== libcurl's memory, apart from ours ===== */

static int64_t curl_bytes;

static void *count_in(void *p)
{
    curl_bytes += (int64_t)malloc_usable_size(p);
    return p;
}

static void count_out(void *p)
{
    curl_bytes -= (int64_t)malloc_usable_size(p);
    free(p);
}

static void *count_malloc(size_t size)
{
    return count_in(malloc(size));
}

static void *count_calloc(size_t n, size_t size)
{
    return count_in(calloc(n, size));
}

static char *count_strdup(const char *text)
{
    return count_in(strdup(text));
}

static void *count_realloc(void *p, size_t size)
{
    curl_bytes -= (int64_t)malloc_usable_size(p);
    return count_in(realloc(p, size));
}

/* ===== calls that wait ===== */

static size_t take(char *data, size_t size, size_t n, void *ctx)
{
    (void)data, (void)ctx;
    return size * n;
}

static CURL *easy_to(const char *url)
{
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    return easy;
}

static int open_files(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n - 3; /* . and .., and the directory itself */
}

static int64_t our_bytes(void)
{
    struct mallinfo2 m = mallinfo2();
    return (int64_t)(m.uordblks + m.hblkhd) - curl_bytes;
}

static int n_waiting;

static void count_waits(void *ctx, const bide_decision *d,
                        const bide_outcome *last, int64_t now)
{
    (void)ctx, (void)last, (void)now;
    n_waiting += d->action == BIDE_WAIT && d->reason == BIDE_BECAUSE_HINT;
}

static double cpu_s(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static bide_dep *patient_dep(void)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_dep *dep;
    conf.budget.kind = BIDE_BUDGET_OFF;
    conf.breaker.kind = BIDE_BREAKER_OFF;
    conf.retry_after.max_ns = 2 * BIDE_HOUR;
    conf.limits.in_flight = 100; /* so that not all connect at once */
    conf.limits.queue = WAITING;
    conf.limits.queue_timeout_ns = BIDE_HOUR;
    if (bide_dep_new(&dep, "bench", &conf) < 0)
        abort();
    return dep;
}

static void wait_all(bide_curl_multi *m)
{
    while (n_waiting < WAITING)
        bide_curl_multi_run(m, bide_now_ns() + 10 * BIDE_MILLISECOND);
}

static void waiting(const struct fault *fault)
{
    static CURL *easy[WAITING];
    const bide_curl_opts opts = { .write = take, .on_decision = count_waits,
                                  .plain_handle = true };
    bide_dep *dep = patient_dep();
    bide_curl_multi *m;
    char url[128];

    fault_url(fault, url, sizeof url, "/s/503;h=Retry-After:3600?id=w");
    for (int i = 0; i < WAITING; i++)
        easy[i] = easy_to(url);
    if (bide_curl_multi_new(&m) < 0)
        abort();
    int64_t before = our_bytes(), curl_before = curl_bytes;
    for (int i = 0; i < WAITING; i++)
        if (bide_curl_multi_add(m, dep, easy[i], &opts, NULL, NULL) < 0)
            abort();
    wait_all(m);
    int64_t ours = our_bytes() - before, curls = curl_bytes - curl_before;
    int files = open_files();
    double cpu = cpu_s();
    bide_curl_multi_run(m, bide_now_ns() + BIDE_SECOND);
    cpu = cpu_s() - cpu;
    int64_t began = bide_now_ns();
    bide_curl_multi_free(m);
    double freed_ns = (double)(bide_now_ns() - began) / WAITING;

    printf("\n%d calls that wait in the multi driver\n", WAITING);
    printf("  bytes each, bide's        %10.0f\n", (double)ours / WAITING);
    printf("  bytes each, libcurl's     %10.0f  over those before a transfer\n",
           (double)curls / WAITING);
    printf("  open files of the process %10d  kept connections among them\n",
           files);
    printf("  CPU while they wait       %10.1f ms a second\n", cpu * 1000);
    printf("  ns to cancel one          %10.0f\n", freed_ns);
    for (int i = 0; i < WAITING; i++)
        curl_easy_cleanup(easy[i]);
    bide_dep_free(dep);
}

int main(void)
{
    curl_global_init_mem(CURL_GLOBAL_DEFAULT, count_malloc, count_out,
                         count_realloc, count_strdup, count_calloc);
    setenv("BIDE_FAULT_SERVER", FAULT_SERVER, 0);
    struct fault fault = fault_start();
    waiting(&fault);
    fault_stop(&fault);
    curl_global_cleanup();
    return 0;
}
