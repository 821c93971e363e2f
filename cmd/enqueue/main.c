/* bide enqueue: puts messages into a queue. A program of its own, which `bide enqueue`
 * executes (exec.c): it brings SQLite along. */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "bide/config.h"
#include "cmd/common/files.h"
#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/worker/place.h"

static const struct flag flag_list[] = {
    PLACE_FLAGS,
    { "lines", 'l', NULL, "each line of standard input is a message" },
    { "id", 0, "ID",
      "the id of the message: while one with the same id is in the queue, it "
      "is "
      "not queued again" },
    { "key", 'k', "KEY",
      "handle messages with the same key in order, one at a time" },
    { "delay", 'd', "D",
      "handle it when this time has passed, not before: 10m, 2h" },
    { "priority", 'p', "N", "from -9 to 9; higher first (0)" },
    { "attribute", 'a', "NAME=VALUE",
      "pass this to the handler beside the body; may be repeated" },
    { "quiet", 0, NULL, "print nothing if all goes well" },
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    "bide enqueue [options] [MESSAGE]",
    "Puts a message into a queue, from which `bide worker` takes it. Without "
    "an argument, the message is read from standard input. When the command "
    "exits with 0, the message is on disk.",
    flag_list,
    "Exit codes: 0 the message is in the queue, 1 it could not be written, 2 "
    "an error in the arguments, or the queue cannot be opened.\n\n"
    "Examples:\n"
    "  bide enqueue 'hello'\n"
    "  bide enqueue --queue mail --key alice --delay 10m < letter.txt\n"
    "  seq 1000 | bide enqueue --lines",
};

enum { BATCH = 1000 };

struct args {
    struct queue_place place;
    struct broker_put put; /* what all messages have */
    struct queue_attribute attributes[QUEUE_ATTRIBUTES_MAX];
    bool lines, quiet;
};

struct total {
    size_t queued, duplicates;
};

/* ===== arguments ===== */

static const char *take_attribute(struct args *a, const char *text)
{
    size_t n = strcspn(text, "=");
    char *copy = strdup(text);

    if (!copy)
        return "more memory";
    copy[n] = 0;
    if (!text[n] || !queue_attribute_ok(copy, copy + n + 1) ||
        a->put.n_attributes == QUEUE_ATTRIBUTES_MAX) {
        free(copy);
        return "NAME=VALUE; a name has letters, digits, `-`, `_` and `.`; at "
               "most 32, of 4096 bytes each";
    }
    a->attributes[a->put.n_attributes++] =
        (struct queue_attribute){ copy, copy + n + 1 };
    return NULL;
}

static const char *take_priority(struct args *a, const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);

    if (end == text || *end || n < -QUEUE_PRIORITY_MAX ||
        n > QUEUE_PRIORITY_MAX)
        return "a number from -9 to 9";
    a->put.priority = (int)n;
    return NULL;
}

static const char *take(void *ctx, const char *name, const char *argument)
{
    struct args *a = ctx;
    const char *expected = NULL;
    int taken = place_flag(&a->place, name, argument, &expected);

    if (taken != 0)
        return taken < 0 ? expected : NULL;
    if (strcmp(name, "lines") == 0)
        a->lines = true;
    else if (strcmp(name, "quiet") == 0)
        a->quiet = true;
    else if (strcmp(name, "attribute") == 0)
        return take_attribute(a, argument);
    else if (strcmp(name, "priority") == 0)
        return take_priority(a, argument);
    else if (strcmp(name, "delay") == 0)
        return bide_parse_duration(argument, strlen(argument),
                                   &a->put.delay_ns) == 0 &&
                       a->put.delay_ns < BIDE_FOREVER / 2
                   ? NULL
                   : "a duration, such as 10m or 2h";
    else if (!queue_id_ok(argument))
        return "1 to 200 bytes, none of them a control character";
    else if (strcmp(name, "id") == 0)
        a->put.id = argument;
    else
        a->put.key = argument;
    return NULL;
}

/* ===== putting ===== */

static int put(struct broker *b, struct broker_put *items, size_t n,
               struct total *total)
{
    if (b->kind->put(b, items, n) != 0) {
        complain("enqueue", "%s", b->error);
        fprintf(stderr, total->queued ? "  nothing more was queued\n"
                                      : "  nothing was queued\n");
        return b->traits.max_body && items[0].len > b->traits.max_body
                   ? EXIT_USAGE
                   : EXIT_FAILURE;
    }
    for (size_t i = 0; i < n; i++) {
        total->duplicates += items[i].duplicate;
        total->queued += !items[i].duplicate;
    }
    return EXIT_OK;
}

static int put_one(struct broker *b, const struct args *a, const void *body,
                   size_t len, struct total *total)
{
    struct broker_put item = a->put;

    item.body = body;
    item.len = len;
    return put(b, &item, 1, total);
}

/* All of standard input, one byte more than a message may have at most: the
 * broker then says what the limit is. */
static int put_stdin(struct broker *b, const struct args *a,
                     struct total *total)
{
    struct bide__out in = { 0 };
    ssize_t n = 1;
    int rc;

    if (isatty(0))
        fprintf(stderr, "bide enqueue: reading the message from the terminal; "
                        "Ctrl-D ends it\n");
    while (n > 0 && in.len <= b->traits.max_body) {
        char *to = bide__out_room(&in, 65536);
        n = to ? read(0, to, 65536) : 0;
        if (n > 0)
            in.len += (size_t)n;
    }
    if (in.failed || n < 0)
        rc = complain("enqueue", "standard input: %s",
                      in.failed ? "out of memory" : strerror(errno)) -
             EXIT_USAGE + EXIT_FAILURE;
    else
        rc = put_one(b, a, in.data, in.len, total);
    bide__out_done(&in);
    return rc;
}

static void free_bodies(struct broker_put *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free((void *)(uintptr_t)items[i].body);
}

static int put_lines(struct broker *b, const struct args *a,
                     struct total *total)
{
    static struct broker_put items[BATCH];
    size_t n = 0, size = 0;
    char *line = NULL;
    ssize_t len = 0;
    int rc = EXIT_OK;

    while (rc == EXIT_OK && len >= 0) {
        len = getline(&line, &size, stdin);
        if (len > 0 && line[len - 1] == '\n')
            len--;
        if (len >= 0) {
            items[n] = a->put;
            items[n].body = line;
            items[n++].len = (size_t)len;
            line = NULL;
            size = 0;
        }
        if (n == BATCH || (len < 0 && n > 0)) {
            rc = put(b, items, n, total);
            free_bodies(items, n);
            n = 0;
        }
    }
    free(line);
    return rc;
}

/* ===== saying so ===== */

static void say(struct broker *b, const struct total *t)
{
    struct broker_counts c;

    printf("queued %zu in %s", t->queued, b->queue);
    if (t->duplicates)
        printf(", %zu %s there already", t->duplicates,
               t->duplicates == 1 ? "was" : "were");
    if (b->kind->counts(b, &c) == 0) {
        printf(" (%llu waiting", (unsigned long long)(c.waiting + c.held));
        if (c.later)
            printf(", %llu later", (unsigned long long)c.later);
        printf(")");
    }
    printf("\n");
}

static int enqueue(struct args *a, int n, char **operands)
{
    struct total total = { 0, 0 };
    int rc;

    if (n > 1)
        return complain("enqueue",
                        "expected one message, found %d arguments; quote it, or "
                        "use --lines",
                        n);
    if (a->lines && (n > 0 || a->put.id))
        return complain("enqueue", "--lines reads messages from standard "
                                   "input: expected no %s",
                        n ? "argument" : "--id");
    struct broker *b = place_open(&a->place, "enqueue", PLACE_PUT);
    if (!b)
        return EXIT_USAGE;
    a->put.attributes = a->attributes;
    if (broker_check_put(b, &a->put) != 0)
        rc = complain("enqueue", "--%s", b->error);
    else if (a->lines)
        rc = put_lines(b, a, &total);
    else if (n == 1)
        rc = put_one(b, a, operands[0], strlen(operands[0]), &total);
    else
        rc = put_stdin(b, a, &total);
    if (!a->quiet && (rc == EXIT_OK || total.queued))
        say(b, &total);
    broker_close(b);
    return rc;
}

int main(int argc, char **argv)
{
    struct args args = { .place = QUEUE_PLACE_INIT };
    int first, rc;

    hold_standard_files();
    setlocale(LC_CTYPE, "");
    rc = flags_parse(&flags, argc, argv, take, &args, &first);
    if (rc < 0)
        rc = enqueue(&args, argc - first, argv + first);
    place_done(&args.place);
    for (size_t i = 0; i < args.put.n_attributes; i++)
        free((void *)(uintptr_t)args.attributes[i].name);
    if (fflush(stdout) != 0 || ferror(stdout))
        return complain("enqueue", "cannot write the output: %s",
                        strerror(errno));
    return rc;
}
