/* Taking: first what the long poll has brought, then by asking. */
#include "bide/policy.h"
#include "queue/sqs/deliver.h"
#include "queue/sqs/hands.h"
#include "queue/sqs/poll.h"
#include "queue/sqs/receive.h"

/* Those whose hiding has ended while they lay here are somebody else's, and no
 * worker died with them. */
static void drop_expired(struct sqs_broker *q)
{
    int64_t now = sq_now();

    for (size_t i = q->n_hands; i-- > 0;)
        if (q->hands[i].stashed && now >= q->hands[i].until_ns - SQ_S / 5) {
            q->doubt_until_ns = now + sq_hidden_ns(q);
            sq_hand_drop(q, &q->hands[i]);
        }
}

static int hand_out(struct sqs_broker *q, enum sq_where where, size_t most,
                    struct queue_message **ret, size_t *n)
{
    drop_expired(q);
    for (size_t i = 0; i < q->n_hands && *n < most; i++) {
        struct sq_hand *h = &q->hands[i];
        if (!h->stashed || h->where != where)
            continue;
        if (!(ret[*n] = sq_hand_message(q, h)))
            return broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
        h->stashed = false;
        (*n)++;
    }
    return 0;
}

/* ===== suspects ===== */

/* Whether some wait, asked no more often than twice in a lease. */
static int look_for_suspects(struct sqs_broker *q)
{
    struct sq_value a;
    int64_t now = sq_now();

    if (q->suspects || now < q->suspects_ns)
        return 0;
    q->suspects_ns = now + (q->urls[SQ_SUSPECTS] ? q->lease_ns / 2 : 60 * SQ_S);
    if (!q->urls[SQ_SUSPECTS])
        return sq_find_queue(q, SQ_SUSPECTS) == BROKER_DOWN ? BROKER_DOWN : 0;
    int status = sq_attributes(q, SQ_SUSPECTS, &a);
    if (status == 0)
        q->suspects =
            sq_number(sq_member(a, "ApproximateNumberOfMessages"), 0) > 0;
    return status;
}

static int take_suspect(struct sqs_broker *q, struct queue_message **ret,
                        size_t *n)
{
    size_t came;
    int status = hand_out(q, SQ_SUSPECTS, 1, ret, n);

    if (status != 0 || *n > 0 || !q->suspects || !q->urls[SQ_SUSPECTS])
        return status;
    status = sq_receive(q, SQ_SUSPECTS, 1, &came);
    q->suspects = status != 0 || came > 0;
    return status == 0 ? hand_out(q, SQ_SUSPECTS, 1, ret, n) : status;
}

/* ===== others ===== */

static int take_others(struct sqs_broker *q, size_t most,
                       struct queue_message **ret, size_t *n)
{
    int status = hand_out(q, SQ_MAIN, most, ret, n);
    size_t came = 1;

    while (status == 0 && *n < most && came > 0 && !sq_poll_is_out(q->poll)) {
        status = sq_receive(q, SQ_MAIN, most - *n, &came);
        if (status == 0)
            status = hand_out(q, SQ_MAIN, most, ret, n);
    }
    return status;
}

static void put_back(struct sqs_broker *q, struct queue_message **ret, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sq_hand_find(q, ret[i]->token)->stashed = true;
        queue_message_free(ret[i]);
    }
}

static int64_t next_due(struct sqs_broker *q)
{
    int64_t left = q->due_ns ? q->due_ns - sq_now() : 0;

    if (left <= 0)
        q->due_ns = 0;
    return left > 0 ? left : BIDE_FOREVER;
}

int sq_take(struct broker *b, struct broker_take *want,
            struct queue_message **ret)
{
    struct sqs_broker *q = (struct sqs_broker *)b;
    size_t n = 0;
    int status = sq_poll_drive(q);

    if (status == 0)
        status = look_for_suspects(q);
    if (status == 0 && want->alone)
        status = take_suspect(q, ret, &n);
    if (status == 0 && n == 0)
        status = take_others(q, want->most, ret, &n);
    if (status != 0) {
        put_back(q, ret, n);
        return status;
    }
    bool alone = n > 0 && ret[0]->suspect;
    q->hungry = alone ? 0 : want->most - n;
    q->counts_ns = 0;
    want->n = n;
    want->suspects = q->suspects && !alone;
    want->next_ns = n == want->most || alone ? 0 : next_due(q);
    return 0;
}

/* ===== waiting ===== */

int sq_wait_fd(struct broker *b, int64_t *ret_poll_ns)
{
    struct sqs_broker *q = (struct sqs_broker *)b;

    *ret_poll_ns = SQ_S;
    sq_poll_start(q);
    return q->poll ? sq_poll_fd(q->poll) : -1;
}

void sq_woken(struct broker *b)
{
    (void)sq_poll_drive((struct sqs_broker *)b);
}
