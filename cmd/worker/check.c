/* bide worker check: the policy against the queue. */
#include <string.h>

#include "bide/policy.h"
#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/worker/settings.h"
#include "cmd/worker/worker.h"
#include "config/lint/worker_lints.h"
#include "queue/plan.h"

struct findings {
    bool all;
    bool loss;
    size_t n;
};

static void found(void *arg, enum broker_severity severity, const char *text,
                  const char *change)
{
    static const char *const names[] = { "fine", "warning", "error" };
    struct findings *f = arg;

    f->loss = f->loss || severity == BROKER_LOSS;
    f->n += severity != BROKER_FINE;
    if (severity == BROKER_FINE && !f->all)
        return;
    fprintf(f->all ? stdout : stderr, "%s: %s\n", names[severity], text);
    if (*change)
        fprintf(f->all ? stdout : stderr, "  %s\n", change);
}

/* Nothing is lost by it: it is in the dead letters. */
static void found_policy(void *arg, const char *code, const char *text,
                         const char *change)
{
    char with_code[256];

    snprintf(with_code, sizeof with_code, "%s [%s]", text, code);
    found(arg, BROKER_WASTE, with_code, change);
}

static int run_check(struct broker *b, const struct worker_args *args,
                     uint32_t at_once, struct findings *f)
{
    struct broker_plan plan = queue_plan(&args->policy.conf, at_once,
                                         worker_lease_ns(args));

    bide__worker_policy(&args->policy.conf, found_policy, f);
    return b->kind->check ? b->kind->check(b, &plan, found, f) : 0;
}

bool worker_check(struct broker *b, const struct worker_args *args,
                  uint32_t at_once, bool all)
{
    struct findings f = { .all = all };

    if (run_check(b, args, at_once, &f) != 0) {
        complain("worker", "%s", b->error);
        return false;
    }
    if (f.loss)
        complain("worker", "messages could be lost: not started");
    return !f.loss;
}

static const struct flag flag_list[] = {
    PLACE_FLAGS,
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    "bide worker [options] check",
    "Holds the policy against the queue, as every start of a worker does: what "
    "would lose a message is an error, what wastes attempts a warning. All "
    "options of `bide worker` may stand before `check`.",
    flag_list,
    "Exit codes: 0 nothing found, 1 something found, 2 an error in the "
    "arguments, or no broker.",
};

static const char *take(void *ctx, const char *name, const char *argument)
{
    const char *expected = NULL;

    return place_flag(ctx, name, argument, &expected) < 0 ? expected : NULL;
}

int worker_check_command(int argc, char **argv, const struct worker_args *args)
{
    struct queue_place place = args->place;
    struct findings f = { .all = true };
    int rc = flags_parse(&flags, argc, argv, take, &place, NULL);

    if (rc >= 0)
        return rc;
    struct broker *b = place_open(&place, "worker", PLACE_LOOK);
    if (!b)
        return EXIT_USAGE;
    rc = run_check(b, args, args->at_once ? args->at_once : 1, &f);
    if (rc != 0)
        complain("worker", "%s", b->error);
    broker_close(b);
    if (rc == 0 && f.n == 0)
        printf("%s: no objections\n", place.queue);
    return rc != 0 ? EXIT_USAGE : f.n ? EXIT_FINDINGS : EXIT_OK;
}
