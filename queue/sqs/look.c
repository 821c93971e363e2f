/* The dead letters. SQS can show a message only by handing it out, so that is what
 * this does, and gives back what it does not want. */
#include "queue/sqs/look.h"

#include <stdlib.h>
#include <string.h>

#include "queue/sqs/base64.h"
#include "queue/sqs/hands.h"
#include "queue/sqs/row.h"

enum { HIDDEN_S = 60, MOST = 100000 };

/* The letters that were received; q->hands stays as it is. */
struct letters {
    struct sq_hand *list;
    size_t n, size;
};

static void done(struct letters *l)
{
    while (l->n > 0)
        free(l->list[--l->n].text);
    free(l->list);
}

static int add(struct sqs_broker *q, struct letters *l, struct sq_value m)
{
    if (l->n == l->size) {
        size_t size = l->size ? 2 * l->size : 32;
        struct sq_hand *more = realloc(l->list, size * sizeof *more);
        if (!more)
            return broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
        l->list = more;
        l->size = size;
    }
    char *text = malloc(m.len);
    if (!text)
        return broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    memcpy(text, m.at, m.len);
    l->list[l->n++] = (struct sq_hand){ .where = SQ_DEAD,
                                        .text = text,
                                        .len = m.len,
                                        .count = 1,
                                        .until_ns = INT64_MAX };
    return 0;
}

static int receive(struct sqs_broker *q, struct letters *l, size_t *came)
{
    struct bide__json *j = sq_begin(q, SQ_DEAD);
    struct sq_value answer, m;

    *came = 0;
    bide__json_integer(j, "MaxNumberOfMessages", SQ_BATCH);
    bide__json_integer(j, "VisibilityTimeout", HIDDEN_S);
    bide__json_integer(j, "WaitTimeSeconds", 1); /* ask all of its servers */
    bide__json_list(j, "MessageSystemAttributeNames");
    bide__json_text(j, NULL, "All");
    bide__json_end(j);
    bide__json_list(j, "MessageAttributeNames");
    bide__json_text(j, NULL, "All");
    bide__json_end(j);
    int status = sq_ask(q, "ReceiveMessage", SQ_ONCE, 0, &answer);
    struct sq_value list = sq_member(answer, "Messages");
    for (size_t at = 0; status == 0 && sq_next(list, &at, &m); (*came)++)
        status = add(q, l, m);
    return status;
}

/* All that are there, at most as many as SQS counts; on failure those so far. */
static int receive_all(struct sqs_broker *q, struct letters *l)
{
    struct sq_value a;
    size_t came = 1;
    int status = q->urls[SQ_DEAD] ? 0 : sq_find_queue(q, SQ_DEAD);

    if (status != 0) /* no letter was ever written */
        return status == BROKER_REFUSED ? 0 : status;
    status = sq_attributes(q, SQ_DEAD, &a);
    int64_t n = sq_number(sq_member(a, "ApproximateNumberOfMessages"), 0);
    while (status == 0 && came > 0 && (int64_t)l->n < n && l->n < MOST)
        status = receive(q, l, &came);
    return status;
}

static int show_again(struct sqs_broker *q, const struct letters *l)
{
    int status = 0;

    for (size_t i = 0; i < l->n && status == 0;) {
        struct sq_entry entries[SQ_BATCH];
        size_t m = 0;
        for (; i < l->n && m < SQ_BATCH; i++)
            if (!l->list[i].settled)
                entries[m++] = (struct sq_entry){ .handle = sq_hand_handle(
                                                      &l->list[i]) };
        status = m ? sq_hide(q, SQ_DEAD, entries, m, 0) : 0;
    }
    return status;
}

/* ===== listing ===== */

struct walk {
    const struct broker_filter *filter;
    broker_each *fn;
    void *arg;
    size_t told;
    bool begins, count_only;
};

static bool is_wanted(const struct walk *w, const struct sq_state *s)
{
    const struct broker_filter *f = w->filter;

    if (f->id && *f->id && strcmp(s->id, f->id) != 0 &&
        !(w->begins && strncmp(s->id, f->id, strlen(f->id)) == 0))
        return false;
    if (f->reason && strcmp(s->reason, f->reason) != 0)
        return false;
    return s->died_ms >= f->since_ms &&
           (!f->until_ms || s->died_ms < f->until_ms);
}

/* False: enough. */
static bool tell(struct sqs_broker *q, struct walk *w, struct sq_value letter,
                 const struct sq_state *s)
{
    size_t len = 0;
    bool more = true;
    struct queue_message *m = sq_row(letter, s);
    char *text = sq_text(s->tail, &len);
    unsigned char *tail = text ? sq_base64_read(text, len, &len) : NULL;

    w->told++;
    if (m && !w->count_only)
        more = w->fn(w->arg, &(struct broker_row){
                                 .message = m,
                                 .state = BROKER_IS_DEAD,
                                 .now_ms = sq_server_ms(q),
                                 .reason = *s->reason ? s->reason : "unknown",
                                 .cls = s->cls,
                                 .tail = tail ? (const char *)tail : "",
                                 .tail_len = tail ? len : 0,
                                 .died_ms = s->died_ms });
    queue_message_free(m);
    free(text);
    free(tail);
    return more && !(w->filter->most && w->told >= w->filter->most);
}

static void walk(struct sqs_broker *q, const struct letters *l, struct walk *w)
{
    bool more = true;

    for (size_t i = 0; i < l->n && more; i++) {
        struct sq_value v = sq_hand_value(&l->list[i]);
        struct sq_state s;
        if (sq_state_read(&s, v) == 0) {
            if (!s.died_ms) /* moved by SQS, or by hand */
                s.died_ms = sq_hand_number(&l->list[i], "SentTimestamp");
            if (is_wanted(w, &s))
                more = tell(q, w, v, &s);
        }
        sq_state_done(&s);
    }
}

int sq_each(struct broker *b, const struct broker_filter *filter,
            broker_each *fn, void *arg)
{
    struct sqs_broker *q = (struct sqs_broker *)b;
    struct walk w = { .filter = filter, .fn = fn, .arg = arg };
    struct letters l = { NULL, 0, 0 };

    if (!filter->dead)
        return 0; /* SQS shows nothing of what waits: traits.blind */
    int status = receive_all(q, &l);
    if (status == 0)
        walk(q, &l, &w);
    if (status == 0 && w.told == 0 && filter->id && *filter->id) {
        /* Nobody has this name: the only one that begins like it? */
        struct walk count = { filter, NULL, NULL, 0, true, true };
        walk(q, &l, &count);
        w.begins = true;
        if (count.told == 1)
            walk(q, &l, &w);
    }
    int shown = show_again(q, &l);
    done(&l);
    return status ? status : shown;
}

/* ===== bringing back ===== */

static bool is_among(const char *id, const char *const *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(ids[i], id) == 0)
            return true;
    return false;
}

static int bring_back(struct sqs_broker *q, struct sq_hand *h,
                      struct sq_state *s, bool fresh_key)
{
    struct sq_entry e = { .handle = sq_hand_handle(h) };
    struct sq_letter l;

    s->attempt = s->deaths = 0;
    s->generation += fresh_key;
    s->suspect = false;
    s->reason[0] = '\0';
    s->tail.len = 0;
    s->wait_ms = 0;
    s->delivered++; /* another label against repetition than the last time */
    sq_hand_copy(q, h, SQ_MAIN, s, &l);
    s->delivered--;
    int status = sq_send(q, SQ_MAIN, &l, 1, 0);
    if (status == 0)
        status = sq_delete(q, SQ_DEAD, &e, 1, 0);
    h->settled = status == 0;
    return status;
}

int sq_redrive(struct broker *b, const char *const *ids, size_t n,
               bool fresh_key, size_t *ret_n)
{
    struct sqs_broker *q = (struct sqs_broker *)b;
    struct letters l = { NULL, 0, 0 };
    int status = receive_all(q, &l);
    size_t back = 0;

    for (size_t i = 0; i < l.n && status == 0; i++) {
        struct sq_state s;
        if (sq_state_read(&s, sq_hand_value(&l.list[i])) == 0 &&
            is_among(s.id, ids, n)) {
            status = bring_back(q, &l.list[i], &s, fresh_key);
            back += status == 0;
        }
        sq_state_done(&s);
    }
    int shown = show_again(q, &l);
    done(&l);
    q->counts_ns = 0;
    if (status == 0)
        *ret_n = back;
    return status ? status : shown;
}
