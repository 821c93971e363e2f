/* One request in ten fails in some way that leaves no doubt about its end: nothing
 * here depends on which of two events comes first. */
#include "plan.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { FAILING = 10, FOREVER = 10, ATTEMPTS = 4 };

/* How an attempt fails, as the fault server is told, the status of giving up, and
 * whether another attempt may help. */
static const struct failure {
    const char *script;
    int status;
    bool again;
} failures[] = {
    { "500", 500, true },
    { "502", 502, true },
    { "503", 503, true },
    { "504", 504, true },
    { "408", 408, true },
    { "425", 425, true },
    { "429", 429, true },
    { "503;n=20000", 503, true },
    { "503;chunked", 503, true },
    { "503;wait=3", 503, true },
    { "503;h=retry-after-ms:3", 503, true },
    { "close", 502, true },
    { "reset", 502, true },
    { "200;cut=head", 502, true },
    { "200;rst=head", 502, true },
    { "400", 400, false },
    { "404", 404, false },
    { "501", 501, false },
    { "503;h=X-Bide-Retry:no", 503, false },
};

static const char *const methods[] = { "GET", "GET",  "GET",  "PUT",
                                       "PUT", "POST", "POST", "POST" };
enum { N_METHODS = sizeof methods / sizeof methods[0], POST = 5, KEYED = 7 };

/* splitmix64: neighbours share nothing. */
static uint64_t mixed(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Some bits of `*from`, as a number below n. */
static unsigned draw(uint64_t *from, unsigned n)
{
    unsigned drawn = (unsigned)(*from % n);
    *from /= n;
    return drawn;
}

static void fail(struct plan *plan, char *path, size_t size, bool safe,
                 uint64_t *bits)
{
    const struct failure *f =
        &failures[draw(bits, sizeof failures / sizeof failures[0])];
    bool forever = draw(bits, FOREVER) == 0;

    if (forever)
        snprintf(path, size, "%s", f->script);
    else
        snprintf(path, size, "%s,200;body=%s", f->script, plan->body);
    if (f->again && safe && !forever) {
        plan->attempts = 2;
        return;
    }
    plan->status = f->status;
    plan->attempts = f->again && safe ? ATTEMPTS : 1;
    plan->body[0] = '\0';
}

size_t plan_make(struct plan *plan, unsigned long number, char *out)
{
    uint64_t bits = mixed(number);
    char path[128], key[64] = "";
    unsigned method = draw(&bits, N_METHODS);
    size_t body = method < 3 ? 0 : draw(&bits, 16) == 0 ? 30000 : 100;

    *plan = (struct plan){ .status = 200, .attempts = 1 };
    snprintf(plan->body, sizeof plan->body, "r%lu.", number);
    snprintf(path, sizeof path, "200;body=%s", plan->body);
    if (draw(&bits, FAILING) == 0)
        fail(plan, path, sizeof path, method < POST || method == KEYED, &bits);
    if (method == KEYED)
        snprintf(key, sizeof key, "Idempotency-Key: r%lu\r\n", number);
    int n = snprintf(out, PLAN_MAX,
                     "%s /s/%s?id=r%lu HTTP/1.1\r\nHost: x\r\n"
                     "%sContent-Length: %zu\r\n\r\n",
                     methods[method], path, number, key, body);
    memset(out + n, 'd', body);
    return (size_t)n + body;
}
