/* Marks, and the lines about them. */
#include "queue/sqs/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/make_id.h"
#include "queue/sqs/receive.h"
#include "queue/sqs/send.h"

enum { HIDDEN_S = 5, OLD_MS = 3600 * 1000 };

enum result { OPEN, GOOD, BAD };

/* Threads: owned. */
struct sq_trials {
    char name[QUEUE_ID_MAX + 1]; /* ours, drawn at random */
    size_t n;
    struct {
        char id[QUEUE_ID_MAX + 1];
        enum result result;
    } list[SQ_TRIALS];
    int64_t asked_ns;
};

/* ===== marking ===== */

int sq_trial_mark(struct sqs_broker *q, struct sq_state *s)
{
    int status = 0;

    s->trial[0] = '\0';
    if (!q->trials) {
        if (!(q->trials = calloc(1, sizeof *q->trials)))
            return broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
        queue_make_id(q->trials->name);
    }
    struct sq_trials *t = q->trials;
    if (t->n == SQ_TRIALS)
        return 0;
    if (!q->urls[SQ_REDRIVE])
        status = sq_make_queue(q, SQ_REDRIVE);
    if (status != 0)
        return status;
    memcpy(s->trial, t->name, sizeof s->trial);
    t->list[t->n].result = OPEN;
    memcpy(t->list[t->n++].id, s->id, sizeof s->id);
    return 0;
}

/* ===== telling ===== */

int sq_trial_tell(struct sqs_broker *q, const char *trial, const char *id,
                  bool good)
{
    static const char body[] = "\"bide worker redrive\"";
    struct sq_state s = { .reason = "" };
    struct sq_letter l = { .body = { body, sizeof body - 1 }, .state = &s };
    char once[QUEUE_ID_MAX + 1];
    int status = 0;

    if (!*trial)
        return 0;
    if (!q->urls[SQ_REDRIVE])
        status = sq_find_queue(q, SQ_REDRIVE);
    if (status != 0) /* it is gone, and so is whoever wanted to know */
        return status == BROKER_REFUSED ? 0 : status;
    snprintf(s.id, sizeof s.id, "%s", id);
    snprintf(s.trial, sizeof s.trial, "%s", trial);
    s.attempt = !good;
    sq_single(l.group, trial);
    queue_make_id(once);
    (void)sq_label(l.once, once);
    return sq_send(q, SQ_REDRIVE, &l, 1, 0);
}

/* ===== hearing ===== */

static void note(struct sq_trials *t, const struct sq_state *s)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->list[i].id, s->id) == 0 && t->list[i].result == OPEN)
            t->list[i].result = s->attempt ? BAD : GOOD;
}

/* Deletes a line that is ours, or that nobody has asked for in an hour. */
static int read_line(struct sqs_broker *q, struct sq_value m)
{
    struct sq_entry e = { .handle = sq_member(m, "ReceiptHandle") };
    struct sq_value system = sq_member(m, "Attributes");
    int64_t sent = sq_number(sq_member(system, "SentTimestamp"), 0);
    struct sq_state s;
    int status = 0;

    if (sq_state_read(&s, m) != 0)
        return broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    bool ours = strcmp(s.trial, q->trials->name) == 0;
    if (ours)
        note(q->trials, &s);
    if (ours || sent < sq_server_ms(q) - OLD_MS)
        status = sq_delete(q, SQ_REDRIVE, &e, 1, 0);
    sq_state_done(&s);
    return status;
}

static int hear_some(struct sqs_broker *q, size_t *ret_n)
{
    struct bide__json *j = sq_begin(q, SQ_REDRIVE);
    struct sq_value answer, m;
    char *text = NULL;

    *ret_n = 0;
    sq_put_request(j, SQ_BATCH, HIDDEN_S, 0);
    int status = sq_ask(q, "ReceiveMessage", SQ_ONCE, 0, &answer);
    if (status == 0 && !(text = sq_raw_copy(answer)))
        status = broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    if (status != 0)
        return status;
    answer.at = text; /* the next request overwrites the answer */
    struct sq_value list = sq_member(answer, "Messages");
    for (size_t at = 0; sq_next(list, &at, &m) && status == 0; (*ret_n)++)
        status = read_line(q, m);
    free(text);
    return status;
}

static int hear(struct sqs_broker *q)
{
    int64_t now = sq_now();
    size_t came = 1;
    int status = 0;

    if (now - q->trials->asked_ns < SQ_S)
        return 0;
    while (status == 0 && came > 0)
        status = hear_some(q, &came);
    q->trials->asked_ns = sq_now();
    return status;
}

/* ===== showing ===== */

static size_t find(const struct sqs_broker *q, const char *id)
{
    size_t i = 0, n = q->trials ? q->trials->n : 0;

    while (i < n && strcmp(q->trials->list[i].id, id) != 0)
        i++;
    return i;
}

bool sq_trial_is_good(const struct sqs_broker *q, const char *id)
{
    size_t i = find(q, id);

    return q->trials && i < q->trials->n && q->trials->list[i].result == GOOD;
}

static bool show(struct sqs_broker *q, size_t i, broker_each *fn, void *arg)
{
    bool failed = q->trials->list[i].result == BAD, more = true;
    struct queue_message *m =
        queue_message_new(&(struct queue_text){ .id = q->trials->list[i].id });

    if (!m)
        return false;
    m->attempt = failed;
    more = fn(arg, &(struct broker_row){ .message = m,
                                         .state = failed ? BROKER_IS_LATER
                                                         : BROKER_IS_WAITING,
                                         .now_ms = sq_server_ms(q),
                                         .reason = "",
                                         .cls = "" });
    queue_message_free(m);
    return more;
}

int sq_trials_each(struct sqs_broker *q, const struct broker_filter *filter,
                   broker_each *fn, void *arg)
{
    int status = q->trials ? hear(q) : 0;
    bool more = true;

    for (size_t i = 0; q->trials && status == 0 && i < q->trials->n && more; i++)
        if (q->trials->list[i].result != GOOD &&
            (!filter->id || !*filter->id ||
             strcmp(filter->id, q->trials->list[i].id) == 0))
            more = show(q, i, fn, arg);
    return status;
}
