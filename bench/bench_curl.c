/* What libbide-curl costs: a call beside the bare transfer, over connections
 * that are kept, on loopback.
 *
 * Four ways to make the same request take turns in short rounds: bare libcurl;
 * bare libcurl once more, which shows how far chance goes; libcurl as bide must
 * use it, with a timeout and the fields of a claim; and bide. Compared are
 * rounds that were made right after each other, and what counts is the median
 * of these comparisons.
 *
 * Where the server runs matters more than all else. On a core of its own, as a
 * server mostly is, a request takes the time of two wake-ups across cores. On
 * the client's core there is nothing to wait for, and a request is four times
 * as fast: that is the processor's time and nothing else, and every share of it
 * looks four times as large. The scheduler would choose one or the other from
 * run to run; here each has its own lines.
 *
 * What libcurl 7.88 takes for the two things that bide must ask of it, in
 * instructions (callgrind, of 58 000 for a bare request to nginx): 430 for the
 * timeout, 3 000 for the field, which it formats character by character; there
 * is no cheaper way to send one. Bide's own are 2 600: 1 000 of them set and
 * reset options, 500 are for the header function, 330 the engine's. */
#include <stdbool.h>

#include "bench.h"
#include "bide/curl.h"
#include "curl/nginx.h"
#include "fault/start.h"

enum { ROUNDS = 599, PER_ROUND = 20 };
enum way { BARE, AGAIN, AS_BIDE, BIDE, WAYS };

static char page[65536];
static size_t page_len;

static size_t take(char *data, size_t size, size_t n, void *ctx)
{
    (void)ctx;
    if (page_len + size * n <= sizeof page)
        memcpy(page + page_len, data, size * n);
    page_len += size * n;
    return size * n;
}

/* ===== one round ===== */

static void bare_request(CURL *easy)
{
    page_len = 0;
    if (curl_easy_perform(easy) != CURLE_OK)
        abort();
}

static void bide_request(CURL *easy, bide_dep *dep)
{
    const bide_curl_opts opts = { .write = take, .plain_handle = true };
    page_len = 0;
    if (bide_curl_perform(dep, easy, &opts) != CURLE_OK)
        abort();
}

static double round_us(enum way way, CURL *easy, bide_dep *dep)
{
    int64_t began = bide_now_ns();
    for (int i = 0; i < PER_ROUND; i++) {
        if (way == BIDE)
            bide_request(easy, dep);
        else
            bare_request(easy);
    }
    return (double)(bide_now_ns() - began) / PER_ROUND / 1000;
}

/* ===== the rounds compared ===== */

static double median(double *v)
{
    qsort(v, ROUNDS, sizeof *v, bench_compare);
    return v[ROUNDS / 2];
}

/* How much longer `a` takes than `b`, in percent. */
static double over(const double *a, const double *b)
{
    static double percent[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        percent[i] = (a[i] / b[i] - 1) * 100;
    return median(percent);
}

/* Over both bare ones, so that chance counts half. */
static double over_bare(double us[WAYS][ROUNDS], enum way way)
{
    return (over(us[way], us[BARE]) + over(us[way], us[AGAIN])) / 2;
}

static void print_line(const char *server, const char *cores,
                       double us[WAYS][ROUNDS])
{
    double chance = over(us[AGAIN], us[BARE]);
    double as_bide = over_bare(us, AS_BIDE), bide = over_bare(us, BIDE);
    double own = over(us[BIDE], us[AS_BIDE]);
    printf("  %-13s %-9s %8.2f %8.2f %8.2f %+8.2f %+8.2f %+8.2f %+8.2f\n",
           server, cores, median(us[BARE]), median(us[AS_BIDE]),
           median(us[BIDE]), chance, as_bide, bide, own);
}

static CURL *easy_for(enum way way, const char *url, struct curl_slist *field)
{
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
    if (way == AS_BIDE) {
        curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 10000L);
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, field);
    }
    return easy;
}

static void compare(const char *server, const char *cores, const char *url)
{
    static double us[WAYS][ROUNDS];
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_dep *dep;
    CURL *easy[WAYS];
    if (bide_dep_new(&dep, "bench", &conf) < 0)
        abort();
    struct curl_slist *field =
        curl_slist_append(NULL, "X-Bide-Attempt: 1; max=4");
    field = curl_slist_append(field, "baggage: bide.attempt=1,bide.max=4");
    for (int way = 0; way < WAYS; way++)
        easy[way] = easy_for((enum way)way, url, field);
    for (int i = -1; i < ROUNDS; i++) { /* the first does not count */
        for (int turn = 0; turn < WAYS; turn++) {
            int way = (i + 1 + turn) % WAYS;
            us[way][i < 0 ? 0 : i] = round_us((enum way)way, easy[way], dep);
        }
    }
    print_line(server, cores, us);
    for (int way = 0; way < WAYS; way++)
        curl_easy_cleanup(easy[way]);
    curl_slist_free_all(field);
    bide_dep_free(dep);
}

/* ===== the servers ===== */

/* Those that are started now run on that core, this program on the first. */
static void measure(const char *cores, int server_core)
{
    char url[128];
    bench_pin(server_core);
    struct fault fault = fault_start();
    struct nginx nginx = nginx_start(fault.http);
    bench_pin(0);
    if (nginx.pid) {
        snprintf(url, sizeof url, "http://127.0.0.1:%d/ok", nginx.http);
        compare("nginx", cores, url);
    }
    fault_url(&fault, url, sizeof url, "/s/200");
    compare("fault server", cores, url);
    nginx_stop(&nginx);
    fault_stop(&fault);
}

int main(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    setenv("BIDE_FAULT_SERVER", FAULT_SERVER, 0);
    bench_pin(0);
    printf("a GET over a kept connection: us (medians of %d rounds of %d), and "
           "%% more\n", ROUNDS, PER_ROUND);
    printf("  %-13s %-9s %8s %8s %8s %8s %8s %8s %8s\n", "", "", "", "as", "",
           "again", "as bide", "bide", "bide");
    printf("  %-13s %-9s %8s %8s %8s %8s %8s %8s %8s\n", "server", "cores",
           "bare", "bide", "bide", "to bare", "to bare", "to bare", "to as b.");
    measure("one each", 1);
    measure("the same", 0);
    printf("  bar: bide 2 %% over bare. As bide: bare libcurl with the timeout "
           "and the\n  header field that bide must set\n");
    curl_global_cleanup();
    return 0;
}
