/* bide worker ls: what is in a queue. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "bide/policy.h"
#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/worker/look.h"
#include "cmd/worker/place.h"
#include "cmd/worker/words.h"

static const struct flag flag_list[] = {
    PLACE_FLAGS,
    { "dead", 0, NULL, "list the dead messages" },
    { "limit", 'n', "N", "how many messages to list at most (20)" },
    { "json", 0, NULL, "print JSON" },
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    "bide worker ls [options]",
    "Shows how many messages are in a queue, in which state, how old the oldest "
    "is, and the first of them.",
    flag_list,
    "Exit codes: 0, or 2 for an error in the arguments, no such queue, or no "
    "broker.\n\n"
    "Examples:\n"
    "  bide worker ls\n"
    "  bide worker ls --dead --json",
};

struct args {
    struct queue_place place;
    bool dead, json;
    size_t limit;
};

static const char *take(void *ctx, const char *name, const char *argument)
{
    struct args *a = ctx;
    const char *expected = NULL;
    int taken = place_flag(&a->place, name, argument, &expected);
    char *end;

    if (taken != 0)
        return taken < 0 ? expected : NULL;
    if (strcmp(name, "dead") == 0) {
        a->dead = true;
    } else if (strcmp(name, "json") == 0) {
        a->json = true;
    } else {
        a->limit = strtoul(argument, &end, 10);
        if (end == argument || *end || argument[0] == '-')
            return "a number";
    }
    return NULL;
}

/* ===== text ===== */

static void print_dead(const struct broker_counts *c)
{
    for (int i = 0; i < BROKER_REASONS && c->dead_by[i].reason[0]; i++)
        printf("%s%llu %s", i ? ", " : "   ",
               (unsigned long long)c->dead_by[i].n, c->dead_by[i].reason);
}

/* Who looks here first, at night, should not have to know what a pause looks like. */
static const char *advice(const struct broker_counts *c)
{
    const int64_t long_ns = 10 * BIDE_SECOND;

    if (c->waiting + c->held == 0)
        return "";
    if (c->workers == 0)
        return "; start one: see `bide worker --help`";
    return c->running == 0 && c->oldest_ns > long_ns
               ? "; they run nothing: paused? Their log says why, and `bide top`"
               : "";
}

static void print_counts(const char *queue, const struct broker_counts *c)
{
    char time[WORDS_TIME];

    printf("%s\n  waiting  %llu", queue, (unsigned long long)c->waiting);
    if (c->held)
        printf(", and %llu behind others of their key",
               (unsigned long long)c->held);
    if (c->waiting + c->held)
        printf("; the oldest for %s", words_time(c->oldest_ns, time));
    printf("\n  later    %llu", (unsigned long long)c->later);
    if (c->later && c->next_ns != BIDE_FOREVER)
        printf("; the next in %s", words_time(c->next_ns, time));
    printf("\n  running  %llu\n  dead     %llu", (unsigned long long)c->running,
           (unsigned long long)c->dead);
    print_dead(c);
    if (c->workers != UINT64_MAX)
        printf("\n  workers  %llu%s", (unsigned long long)c->workers, advice(c));
    printf("\n");
}

/* What its last attempt came to, as far as that fits: how much was printed. */
static int print_error(const struct queue_message *m, int used)
{
    static const char after[] = ", after ";
    enum { LEAST = 8 };
    char error[WORDS_ERROR];
    int room = terminal_width(stdout) - used - (int)(sizeof after - 1);
    size_t n = strlen(words_last_error(m->errors, error));

    if (n == 0 || room < LEAST)
        return 0;
    if (n <= (size_t)room)
        return printf("%s%s", after, error);
    n = bide__utf8_cut(error, (size_t)room - 3);
    return printf("%s%.*s...", after, (int)n, error);
}

/* As much of it as fits beside what is in the line already. */
static void print_start_of_body(const struct queue_message *m, int used)
{
    enum { MOST = 40, LEAST = 8, GAP = 2 };
    int left = terminal_width(stdout) - used - GAP;
    size_t room = left < LEAST ? 0 : left < MOST ? (size_t)left : MOST;
    bool cut = m->body_len > room;
    size_t n = !cut ? m->body_len : room ? room - 3 : 0;

    printf("%*s", n ? GAP : 0, "");
    for (size_t i = 0; i < n; i++)
        putchar(m->body[i] < ' ' || m->body[i] > 126 ? '.' : m->body[i]);
    printf("%s\n", cut && n ? "..." : "");
}

static bool print_row(void *arg, const struct broker_row *row)
{
    char id[WORDS_ID], time[WORDS_TIME];
    const struct queue_message *m = row->message;
    int64_t since = row->state == BROKER_IS_DEAD ? row->died_ms : m->due_ms;
    int64_t ms = row->now_ms - since;

    (void)arg;
    int used = printf("%-8s %-8s %u attempt%s  ", words_id(m->id, id),
                      words_state(row->state), m->attempt,
                      m->attempt == 1 ? " " : "s");
    if (row->state == BROKER_IS_DEAD)
        used += printf("%s, %s ago", row->reason,
                       words_time(ms * BIDE_MILLISECOND, time));
    else
        used += printf("%s %s", ms < 0 ? "in" : "for",
                       words_time((ms < 0 ? -ms : ms) * BIDE_MILLISECOND, time));
    used += print_error(m, used);
    print_start_of_body(m, used);
    return true;
}

/* ===== JSON ===== */

static void json_counts(struct bide__json *j, const struct broker_counts *c)
{
    bide__json_count(j, "waiting", c->waiting);
    bide__json_count(j, "held", c->held);
    bide__json_count(j, "later", c->later);
    bide__json_count(j, "running", c->running);
    bide__json_count(j, "dead", c->dead);
    bide__json_ms(j, "oldest_ms", c->oldest_ns);
    if (c->workers != UINT64_MAX)
        bide__json_count(j, "workers", c->workers);
    bide__json_object(j, "dead_by_reason");
    for (int i = 0; i < BROKER_REASONS && c->dead_by[i].reason[0]; i++)
        bide__json_count(j, c->dead_by[i].reason, c->dead_by[i].n);
    bide__json_end(j);
}

static bool json_row(void *arg, const struct broker_row *row)
{
    struct bide__json *j = arg;
    const struct queue_message *m = row->message;
    char error[WORDS_ERROR];

    bide__json_object(j, NULL);
    bide__json_text(j, "id", m->id);
    bide__json_text(j, "state", words_state(row->state));
    if (*m->key)
        bide__json_text(j, "key", m->key);
    bide__json_integer(j, "priority", m->priority);
    bide__json_count(j, "attempts", m->attempt);
    bide__json_count(j, "deliveries", m->deliveries);
    bide__json_integer(j, "queued_ms", m->queued_ms);
    bide__json_integer(j, "due_ms", m->due_ms);
    bide__json_count(j, "bytes", m->body_len);
    if (row->state == BROKER_IS_DEAD)
        bide__json_text(j, "reason", row->reason);
    if (*words_last_error(m->errors, error))
        bide__json_text(j, "last_error", error);
    bide__json_end(j);
    return true;
}

static int list(struct broker *b, const struct args *a)
{
    struct broker_filter f = { .dead = a->dead, .most = a->limit };
    struct broker_counts c;
    struct bide__json j;
    int status = b->kind->counts(b, &c);

    if (status != 0)
        return status;
    if (!a->json) {
        print_counts(b->queue, &c);
        return a->limit ? b->kind->each(b, &f, print_row, NULL) : 0;
    }
    bide__json_init(&j, stdout, true);
    bide__json_object(&j, NULL);
    bide__json_text(&j, "queue", b->queue);
    json_counts(&j, &c);
    bide__json_list(&j, "messages");
    if (a->limit)
        status = b->kind->each(b, &f, json_row, &j);
    bide__json_end(&j);
    bide__json_end(&j);
    bide__json_done(&j);
    return status;
}

int worker_ls(int argc, char **argv, const struct queue_place *place)
{
    struct args a = { .place = *place, .limit = 20 };
    int rc = flags_parse(&flags, argc, argv, take, &a, NULL);

    if (rc >= 0)
        return rc;
    struct broker *b = place_open(&a.place, "worker", PLACE_LOOK);
    if (!b)
        return EXIT_USAGE;
    rc = list(b, &a) == 0 ? EXIT_OK : complain("worker", "%s", b->error);
    broker_close(b);
    place_done(&a.place);
    return rc;
}
