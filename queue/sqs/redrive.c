/* From NAME-dead to NAME, one after the other. */
#include "queue/sqs/redrive.h"

#include <stdlib.h>
#include <string.h>

#include "queue/sqs/hands.h"
#include "queue/sqs/letters.h"
#include "queue/sqs/trial.h"

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
    int status = sq_trial_mark(q, s);

    if (status != 0)
        return status;
    s->attempt = s->deaths = 0;
    s->generation += fresh_key;
    s->suspect = s->unsure = false;
    s->reason[0] = '\0';
    s->tail.len = 0;
    s->wait_ms = 0;
    status = sq_hand_replace(q, h, SQ_MAIN, s);
    h->settled = status == 0;
    return status;
}

/* Those of the letters in hand that are wanted. */
static int bring_some(struct sqs_broker *q, const char *const *ids, size_t n,
                      bool fresh_key, size_t *back)
{
    int status = 0;

    for (size_t i = 0; i < q->letters.n && *back < n && status == 0; i++) {
        struct sq_hand *h = &q->letters.list[i];
        struct sq_state s;
        if (h->settled)
            continue;
        if (sq_state_read(&s, sq_hand_value(h)) == 0 &&
            is_among(s.id, ids, n)) {
            status = bring_back(q, h, &s, fresh_key);
            *back += status == 0;
        }
        sq_state_done(&s);
    }
    return status;
}

/* Letters are received until all are found, or none is left. */
int sq_redrive(struct broker *b, const char *const *ids, size_t n,
               bool fresh_key, size_t *ret_n)
{
    struct sqs_broker *q = (struct sqs_broker *)b;
    int status = q->urls[SQ_DEAD] ? 0 : sq_find_queue(q, SQ_DEAD);
    size_t back = 0, came = 1;

    if (status == BROKER_REFUSED) { /* no letter was ever written */
        *ret_n = 0;
        return 0;
    }
    if (status == 0)
        status = bring_some(q, ids, n, fresh_key, &back);
    while (status == 0 && back < n && came > 0) {
        status = sq_letters_receive(q, &came);
        if (status == 0)
            status = bring_some(q, ids, n, fresh_key, &back);
    }
    q->counts_ns = 0;
    if (status == 0)
        *ret_n = back;
    return status;
}
