/* Received, kept for minutes, shown again. */
#include "queue/sqs/letters.h"

#include <stdlib.h>
#include <string.h>

#include "queue/sqs/hands.h"
#include "queue/sqs/receive.h"

enum { HIDDEN_S = 300, LEAST_S = 10, MOST = 100000 };
enum { PATIENCE = 3 }; /* seconds, while somebody else is looking at some */

static int add(struct sqs_broker *q, struct sq_value m, int64_t until_ns)
{
    struct sq_hands *l = &q->letters;

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
                                        .until_ns = until_ns };
    return 0;
}

/* Those that others see again before long; in the order in which they came. */
static void drop_old(struct sqs_broker *q)
{
    struct sq_hands *l = &q->letters;
    int64_t now = sq_now() + LEAST_S * SQ_S;
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        if (l->list[i].settled || l->list[i].until_ns < now)
            free(l->list[i].text);
        else
            l->list[n++] = l->list[i];
    l->n = n;
}

int sq_letters_receive(struct sqs_broker *q, size_t *came)
{
    int64_t until = sq_now() + HIDDEN_S * SQ_S;
    struct bide__json *j;
    struct sq_value answer, m;

    *came = 0;
    drop_old(q);
    if (!q->urls[SQ_DEAD] || q->letters.n >= MOST)
        return 0;
    j = sq_begin(q, SQ_DEAD);
    sq_put_request(j, SQ_BATCH, HIDDEN_S, 1); /* a second: asks all its servers */
    int status = sq_ask(q, "ReceiveMessage", SQ_ONCE, 0, &answer);
    if (status != 0)
        return status;
    struct sq_value list = sq_member(answer, "Messages");
    for (size_t at = 0; status == 0 && sq_next(list, &at, &m); (*came)++)
        status = add(q, m, until);
    return status;
}

static int64_t number(struct sq_value a, const char *name)
{
    return sq_number(sq_member(a, name), 0);
}

/* A worker, which only counts them, waits for nobody. */
int sq_letters_receive_all(struct sqs_broker *q)
{
    const int patience = q->consume ? 1 : PATIENCE;
    struct sq_value a;
    size_t came;
    int status = q->urls[SQ_DEAD] ? 0 : sq_find_queue(q, SQ_DEAD);

    if (status != 0) /* no letter was ever written */
        return status == BROKER_REFUSED ? 0 : status;
    if ((status = sq_attributes(q, SQ_DEAD, &a)) != 0)
        return status;
    int64_t n = number(a, "ApproximateNumberOfMessages");
    if (!q->consume)
        n += number(a, "ApproximateNumberOfMessagesNotVisible");
    for (int none = 0; status == 0 && none < patience && n > 0;
         n -= (int64_t)came) {
        status = sq_letters_receive(q, &came);
        none = came > 0 ? 0 : none + 1;
    }
    return status;
}

int sq_letters_show(struct sqs_broker *q)
{
    struct sq_hands *l = &q->letters;
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
    sq_letters_done(q);
    return status;
}

void sq_letters_done(struct sqs_broker *q)
{
    while (q->letters.n > 0)
        free(q->letters.list[--q->letters.n].text);
    free(q->letters.list);
    q->letters = (struct sq_hands){ NULL, 0, 0 };
}
