/* bide worker show: one message, with all that is known about it. */
#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/worker/look.h"
#include "cmd/worker/place.h"
#include "cmd/worker/show_json.h"
#include "cmd/worker/words.h"

static const struct flag flag_list[] = {
    PLACE_FLAGS,
    { "body", 0, NULL, "print the body and nothing else" },
    { "json", 0, NULL, "print JSON" },
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    "bide worker show [options] ID",
    "Shows one message: its state, its attempts and their errors, its body, and "
    "of a dead one why it died and the last output of the handler. The beginning "
    "of an id is enough, if no other begins like this.",
    flag_list,
    "Exit codes: 0, 1 there is no such message, or several, 2 an error in the "
    "arguments, no such queue, or no broker.\n\n"
    "Examples:\n"
    "  bide worker show 7f3a\n"
    "  bide worker show --json 7f3a\n"
    "  bide worker show --body 7f3a > letter.txt",
};

/* Of several that are meant, as many are named. */
enum { SOME = 5 };

struct look {
    struct queue_place place;
    const char *id;
    bool body;    /* only */
    bool json;
    size_t seen;
    char ids[SOME][QUEUE_ID_MAX + 1]; /* of the first of those */
    bool exact;   /* one of them is this id, and does not only begin like it */
    bool print;
    bool failed;  /* no memory */
};

static const char *take(void *ctx, const char *name, const char *argument)
{
    struct look *l = ctx;
    const char *expected = NULL;
    int taken = place_flag(&l->place, name, argument, &expected);

    if (taken == 0)
        *(strcmp(name, "json") == 0 ? &l->json : &l->body) = true;
    return taken < 0 ? expected : NULL;
}

static void print_text(const char *name, const char *text)
{
    printf("%-11s ", name);
    words_print(stdout, text, strlen(text), false);
    putchar('\n');
}

/* What has lines of its own. */
static void print_bytes(const void *data, size_t len)
{
    words_print(stdout, data, len, true);
    if (len && ((const char *)data)[len - 1] != '\n')
        putchar('\n');
}

static void print_attribute(const struct queue_attribute *a)
{
    printf("%-11s %s=", "attribute", a->name);
    words_print(stdout, a->value, strlen(a->value), false);
    putchar('\n');
}

static void print_time(const char *name, int64_t ms)
{
    char when[BIDE__DATE_TEXT];

    printf("%-11s %sZ\n", name, bide__date_text(ms > 0 ? ms / 1000 : 0, when));
}

static void print_all(const struct broker_row *row)
{
    static const char *const states[] = { "waiting", "waiting behind its key",
                                          "later", "running", "dead" };
    const struct queue_message *m = row->message;

    print_text("id", m->id);
    print_text("state", states[row->state]);
    if (*m->key)
        print_text("key", m->key);
    if (m->priority)
        printf("%-11s %d\n", "priority", m->priority);
    print_time("queued", m->queued_ms);
    if (row->state != BROKER_IS_DEAD)
        print_time("due", m->due_ms);
    printf("%-11s %u\n%-11s %u\n", "attempts", m->attempt, "deliveries",
           m->deliveries);
    if (m->deaths)
        printf("%-11s %u\n", "deaths", m->deaths);
    if (row->state == BROKER_IS_DEAD) {
        print_time("died", row->died_ms);
        print_text("reason", row->reason);
        print_text("class", row->cls);
    }
    for (size_t i = 0; i < m->n_attributes; i++)
        print_attribute(&m->attributes[i]);
    if (*m->errors) {
        printf("\nerrors: when, attempt, what\n");
        print_bytes(m->errors, strlen(m->errors));
    }
    if (row->tail_len) {
        printf("\nlast output of the handler\n");
        print_bytes(row->tail, row->tail_len);
    }
    printf("\nbody, %zu byte%s\n", m->body_len, m->body_len == 1 ? "" : "s");
    print_bytes(m->body, m->body_len);
}

/* ===== which it is ===== */

static bool visit(void *arg, const struct broker_row *row)
{
    struct look *l = arg;
    bool exact = strcmp(row->message->id, l->id) == 0;

    if (!l->print) {
        l->exact = l->exact || exact;
        if (l->seen < SOME)
            snprintf(l->ids[l->seen], sizeof l->ids[0], "%s", row->message->id);
        l->seen++;
        return true;
    }
    if (l->exact && !exact)
        return true;
    if (l->body)
        fwrite(row->message->body, 1, row->message->body_len, stdout);
    else if (!l->json)
        print_all(row);
    else if (!show_json(row))
        l->failed = true;
    return true;
}

/* Alive or dead: the id may be one among the live, and how one of the dead begins. */
static int each(struct broker *b, struct look *l)
{
    struct broker_filter f = { .id = l->id };
    int status = b->kind->each(b, &f, visit, l);

    f.dead = true;
    return status == 0 ? b->kind->each(b, &f, visit, l) : status;
}

static int refuse(const struct broker *b, const struct look *l)
{
    if (l->seen == 0) {
        complain("worker", "no message in %s is `%s`, or begins like that", b->queue,
                 l->id);
        return EXIT_FINDINGS;
    }
    complain("worker", "%zu messages begin with `%s`: expected one", l->seen, l->id);
    for (size_t i = 0; i < l->seen && i < SOME; i++) {
        fprintf(stderr, "  ");
        words_print(stderr, l->ids[i], strlen(l->ids[i]), false);
        fprintf(stderr, "\n");
    }
    if (l->seen > SOME)
        fprintf(stderr, "  and %zu more\n", l->seen - SOME);
    return EXIT_FINDINGS;
}

static int show(struct broker *b, struct look *l)
{
    if (each(b, l) != 0)
        return complain("worker", "%s", b->error);
    if (!l->exact && l->seen != 1)
        return refuse(b, l);
    l->print = true;
    if (each(b, l) != 0)
        return complain("worker", "%s", b->error);
    return l->failed ? complain("worker", "no memory") : EXIT_OK;
}

int worker_show(int argc, char **argv, const struct queue_place *place)
{
    struct look l = { .place = *place };
    int first, rc = flags_parse(&flags, argc, argv, take, &l, &first);

    if (rc >= 0)
        return rc;
    if (argc - first != 1)
        return complain("worker", "show: expected the id of one message");
    l.id = argv[first];
    if (!queue_id_ok(l.id))
        return complain("worker", "show: expected an id: 1 to 200 bytes, none "
                                  "of them a control character");
    struct broker *b = place_open(&l.place, "worker", PLACE_LOOK);
    if (!b)
        return EXIT_USAGE;
    rc = show(b, &l);
    broker_close(b);
    place_done(&l.place);
    return rc;
}
