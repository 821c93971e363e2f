/* bide worker redrive: brings dead messages back, carefully: ten first, and the rest at
 * a rate, if most of the ten succeed. Each message is brought back by one commit, so
 * an interruption loses nothing. */
#include "cmd/worker/redrive.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/date.h"
#include "bide/config.h"
#include "bide/run.h"
#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/worker/place.h"

static const struct flag flag_list[] = {
    PLACE_FLAGS,
    { "dry-run", 0, NULL, "say what would be brought back; no more" },
    { "reason", 'r', "REASON", "only those that died of this (attempts)" },
    { "since", 0, "WHEN",
      "only those that died since then: 2026-11-17T09:00:00Z, or 2h for two "
      "hours ago" },
    { "until", 0, "WHEN", "only those that died before" },
    { "rate", 0, "RATE", "after the first ten, so many (10/s)" },
    { "fresh-key", 0, NULL,
      "send a new idempotency key, where the old one would get a stored "
      "refusal" },
    { "quiet", 0, NULL, "print no progress" },
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    "bide worker redrive [options] [ID...]",
    "Brings dead messages back into their queue, with all their attempts. Ten "
    "go first; if most of them succeed, the others follow at a rate, so that "
    "what killed them is not repeated at once.",
    flag_list,
    "Exit codes: 0 all were brought back, 1 not all: most of the first ten "
    "failed, it was interrupted, no worker is running, or there is no such "
    "reason, 2 an error in the "
    "arguments, no such queue, or no broker.\n\n"
    "Examples:\n"
    "  bide worker redrive --dry-run\n"
    "  bide worker redrive --reason attempts --since 2h\n"
    "  bide worker redrive --rate 100/s",
};

enum { FIRST = 10 };
#define SAY_NS (5 * BIDE_SECOND)

struct args {
    struct queue_place place;
    struct broker_filter filter;
    double rate;
    bool dry, fresh_key, quiet;
};

/* ===== arguments ===== */

static const char *take_when(int64_t *ret_ms, const char *text)
{
    struct bide__instant at;
    int64_t ago;
    size_t len = strlen(text);

    if (bide_parse_duration(text, len, &ago) == 0 && ago != BIDE_FOREVER)
        *ret_ms = bide_wall_ms() - ago / BIDE_MILLISECOND;
    else if (bide__date_rfc3339(text, len, &at) && at.len == len)
        *ret_ms = at.ns / BIDE_MILLISECOND;
    else
        return "a time such as 2026-11-17T09:00:00Z, or how long ago, such as "
               "2h";
    return NULL;
}

static const char *take(void *ctx, const char *name, const char *argument)
{
    struct args *a = ctx;
    const char *expected = NULL;
    int taken = place_flag(&a->place, name, argument, &expected);

    if (taken != 0)
        return taken < 0 ? expected : NULL;
    if (strcmp(name, "reason") == 0)
        a->filter.reason = argument;
    else if (strcmp(name, "since") == 0)
        return take_when(&a->filter.since_ms, argument);
    else if (strcmp(name, "until") == 0)
        return take_when(&a->filter.until_ms, argument);
    else if (strcmp(name, "rate") == 0)
        return bide_parse_rate(argument, strlen(argument), &a->rate) == 0 &&
                       a->rate > 0
                   ? NULL
                   : "a rate, such as 10/s";
    else if (strcmp(name, "dry-run") == 0)
        a->dry = true;
    else if (strcmp(name, "fresh-key") == 0)
        a->fresh_key = true;
    else
        a->quiet = true;
    return NULL;
}

/* ===== which ===== */

static bool add(void *ids, const struct broker_row *row)
{
    redrive_ids_add(ids, row->message->id);
    return true;
}

static int find(struct broker *b, const struct args *a, char **wanted, int n,
                struct redrive_ids *ids)
{
    struct broker_filter f = a->filter;
    int status = 0;

    f.dead = true;
    if (n == 0)
        status = b->kind->each(b, &f, add, ids);
    for (int i = 0; i < n && status == 0; i++) {
        size_t before = ids->n;
        f.id = wanted[i];
        status = b->kind->each(b, &f, add, ids);
        if (status == 0 && ids->n != before + 1) {
            complain("worker", ids->n > before
                                   ? "`%s`: more than one dead message begins "
                                     "like this"
                                   : "`%s`: no dead message",
                     wanted[i]);
            return EXIT_FINDINGS;
        }
    }
    if (status != 0)
        return complain("worker", "%s", b->error);
    return ids->failed ? complain("worker", "out of memory") : -1;
}

/* ===== bringing back ===== */

static int bring_back(struct broker *b, const struct args *a,
                      const struct redrive_ids *ids, size_t from, size_t n)
{
    size_t done;

    if (b->kind->redrive(b, (const char *const *)ids->list + from, n,
                         a->fresh_key, &done) != 0)
        return complain("worker", "%s", b->error);
    return -1;
}

static void sleep_for(int64_t ns)
{
    struct timespec t = { (time_t)(ns / BIDE_SECOND),
                          (long)(ns % BIDE_SECOND) };
    nanosleep(&t, NULL);
}

/* Nothing may come of them for hours, if the handler is away or their workers are:
 * whoever waits should know. */
static void say_open(struct broker *b, const struct redrive_results *r)
{
    struct broker_counts c;
    bool nobody = b->kind->counts(b, &c) == 0 && c.workers == 0;

    fprintf(stderr, "%zu succeeded, %zu failed, %zu neither yet%s; Ctrl-C leaves "
                    "the rest dead\n",
            r->good, r->bad, r->open, nobody ? ": no worker is running" : "");
}

/* Until each of the first has succeeded or failed. */
static int watch_first(struct broker *b, const struct args *a,
                       const struct redrive_ids *ids, size_t n)
{
    struct redrive_results r;
    int64_t say_at = bide_now_ns() + SAY_NS;

    if (!a->quiet)
        fprintf(stderr, "brought back %zu; waiting for what becomes of them\n",
                n);
    for (;;) {
        if (redrive_results(b, ids, n, &r) != 0)
            return complain("worker", "%s", b->error);
        if (r.open == 0 || r.bad > n / 2)
            break;
        if (!a->quiet && bide_now_ns() >= say_at) {
            say_open(b, &r);
            say_at = bide_now_ns() + SAY_NS;
        }
        sleep_for(BIDE_SECOND / 5);
    }
    if (!a->quiet)
        fprintf(stderr, "%zu succeeded, %zu failed\n", r.good, r.bad);
    if (redrive_goes_on(&r))
        return -1;
    complain("worker", "most of the first %zu failed: %zu stay dead", n,
             ids->n - n);
    return EXIT_FINDINGS;
}

static int bring_rest(struct broker *b, const struct args *a,
                      const struct redrive_ids *ids, size_t from)
{
    size_t step = a->rate > 20 ? (size_t)(a->rate / 10) : 1;
    int64_t pause = (int64_t)((double)step / a->rate * 1e9), said = 0;

    while (from < ids->n) {
        size_t n = ids->n - from < step ? ids->n - from : step;
        int rc = bring_back(b, a, ids, from, n);
        if (rc >= 0)
            return rc;
        from += n;
        if (!a->quiet && bide_now_ns() - said > BIDE_SECOND) {
            said = bide_now_ns();
            fprintf(stderr, "brought back %zu of %zu\n", from, ids->n);
        }
        if (from < ids->n)
            sleep_for(pause);
    }
    return -1;
}

static int redrive(struct broker *b, const struct args *a,
                   const struct redrive_ids *ids)
{
    size_t first = ids->n < FIRST ? ids->n : FIRST;
    struct broker_counts c;
    int rc;

    if (ids->n > FIRST && b->kind->counts(b, &c) == 0 && c.workers == 0) {
        complain("worker", "no worker is running on %s: start one, so that "
                           "redrive sees whether the first %d succeed; nothing "
                           "was changed",
                 b->queue, FIRST);
        return EXIT_FINDINGS;
    }
    rc = bring_back(b, a, ids, 0, first);
    if (rc < 0 && ids->n > first)
        rc = watch_first(b, a, ids, first);
    if (rc < 0)
        rc = bring_rest(b, a, ids, first);
    if (rc < 0)
        printf("brought back %zu in %s\n", ids->n, b->queue);
    return rc < 0 ? EXIT_OK : rc;
}

static bool is_reason(const char *name)
{
    bool found = strcmp(name, "crashed") == 0; /* queue/blame.h */

    for (int i = 0; i < BIDE_N_REASONS && !found; i++)
        found = strcmp(name, bide_reason_name((bide_reason)i)) == 0;
    return found;
}

/* None died of the reason that was asked for: says which ones there are. True: there
 * is no such reason at all. */
static bool is_mistyped(struct broker *b, const struct args *a)
{
    const char *known[BROKER_REASONS + 1] = { NULL };
    struct broker_counts c;

    if (!a->filter.reason || b->kind->counts(b, &c) != 0)
        return false;
    for (size_t i = 0; i < BROKER_REASONS && c.dead_by[i].reason[0]; i++) {
        known[i] = c.dead_by[i].reason;
        if (strcmp(known[i], a->filter.reason) == 0)
            return false;
    }
    if (!known[0])
        return false;
    complain("worker", "no message died of `%s`", a->filter.reason);
    suggest(a->filter.reason, known);
    for (size_t i = 0; known[i]; i++)
        fprintf(stderr, "  %llu of `%s`\n", (unsigned long long)c.dead_by[i].n,
                known[i]);
    return !is_reason(a->filter.reason);
}

/* Nothing is to be brought back: the exit code, or -1 if it is still to be said. */
static int say_none(struct broker *b, const struct args *a)
{
    const struct broker_filter *f = &a->filter;

    if (is_mistyped(b, a))
        return EXIT_FINDINGS;
    if (a->dry)
        return -1;
    printf(f->reason || f->since_ms || f->until_ms
               ? "none of the dead messages in %s is meant\n"
               : "nothing is dead in %s\n",
           b->queue);
    return EXIT_OK;
}

int worker_redrive(int argc, char **argv, const struct queue_place *place)
{
    struct args a = { .place = *place, .rate = 10 };
    struct redrive_ids ids = { .n = 0 };
    int first, rc = flags_parse(&flags, argc, argv, take, &a, &first);

    if (rc >= 0)
        return rc;
    struct broker *b = place_open(&a.place, "worker", PLACE_LOOK);
    if (!b)
        return EXIT_USAGE;
    rc = find(b, &a, argv + first, argc - first, &ids);
    if (rc < 0 && ids.n == 0)
        rc = say_none(b, &a);
    if (rc < 0 && a.dry) {
        printf("%zu dead message%s would be brought back in %s\n", ids.n,
               ids.n == 1 ? "" : "s", b->queue);
        rc = EXIT_OK;
    }
    if (rc < 0)
        rc = redrive(b, &a, &ids);
    redrive_ids_done(&ids);
    broker_close(b);
    place_done(&a.place);
    return rc;
}
