/* queue/sqs/session.h: a queue on Amazon SQS, and the requests to it.
 *
 *     struct bide__json *j = sq_begin(q, SQ_MAIN);
 *     bide__json_integer(j, "MaxNumberOfMessages", 10);
 *     struct sq_value answer;
 *     int status = sq_ask(q, "ReceiveMessage", SQ_ONCE, 0, &answer);
 *
 * Four queues: NAME itself; NAME-dead, for dead letters; and, made when they are
 * first needed, NAME-suspects (queue/blame.h) and NAME-redrive, where workers tell
 * what became of messages that were brought back (trial.h). FIFO queues have
 * `.fifo` behind.
 *
 * SQS can change nothing about a message but when it is seen again. What bide
 * keeps of one (attempts, errors, deaths) is in its attribute `bide`, and to
 * change that a copy is sent with what is new in it, and the old one deleted once
 * the copy was accepted (send.h). So a copy is received once; a second receive
 * means that a delivery ended without a word. That is the count that is durable
 * before a handler starts, and SQS itself keeps it.
 *
 * A message with a key, on a FIFO queue, must keep its place: it stays there, as a
 * lock, while its copies wait and run (lock.h).
 *
 * Fencing: nobody else can have a message before our hiding it runs out. When
 * that is, we know from before the request was sent, on a clock that does not
 * stop; after it, nothing is settled. */
#ifndef BIDE_QUEUE_SQS_SESSION_H
#define BIDE_QUEUE_SQS_SESSION_H

#include "base/json.h"
/* libcurl signs what is in its list of headers, also what removes one: bide must
 * leave that list alone, as it does where it does not know it. */
#define BIDE_CURL_NO_RECORD
#include "bide/curl.h"
#include "bide/dep.h"
#include "queue/broker.h"
#include "queue/sqs/credentials.h"
#include "queue/sqs/json.h"
#include "queue/sqs/url.h"

#define SQ_MS INT64_C(1000000)
#define SQ_S INT64_C(1000000000)

enum {
    SQ_BATCH = 10,          /* entries in one request, says SQS */
    SQ_BATCH_BYTES = 200 << 10,
    SQ_DELAY_MOST_S = 900,  /* of a message that is sent */
    SQ_HIDE_MOST_S = 43200, /* of one that was received: 12 h in all */
    SQ_HOP_S = 43000,       /* and this is what we ask for */
    SQ_RUN_MOST_S = 42600,  /* a handler that works longer is stopped before */
    SQ_RESERVE = 16 << 10   /* of a message's size, for what bide notes in it */
};

enum sq_where { SQ_MAIN, SQ_SUSPECTS, SQ_DEAD, SQ_REDRIVE, SQ_PLACES };

struct sq_hand;
struct sq_poll;
struct sq_trials;

/* Deliveries, as hands.h has them. Threads: owned. */
struct sq_hands {
    struct sq_hand *list;
    size_t n, size;
};

/* Threads: owned. */
struct sqs_broker {
    struct broker b;
    struct sq_url url;
    struct sq_credentials credentials;
    bide_dep *dep;
    CURL *easy;
    bool fifo, consume, create;
    uint32_t max_deaths;
    int64_t lease_ns;
    char names[SQ_PLACES][QUEUE_NAME_MAX + 1];
    char *urls[SQ_PLACES];   /* NULL: not there, as far as we know */

    struct bide__out request, answer;
    struct bide__json json;
    char type[96];           /* of the last error that SQS answered */
    bool refused_key;        /* that was about the credentials */
    int64_t ahead_ms;        /* of its clock before the one of sq_now() */

    struct sq_hand *hands;   /* all that we hold, handed out or not */
    size_t n_hands, hands_size;
    uint64_t last_token;
    struct sq_poll *poll;    /* NULL: only puts and looks */
    size_t hungry;           /* places that the last take left empty */
    int64_t doubt_until_ns;  /* the answer of a receive was lost before */
    struct broker_rescued rescued; /* since rescue() was asked last */
    bool suspects;           /* some wait, as far as we know */
    int64_t suspects_ns;     /* when to look next whether some do */
    struct sq_hands letters; /* dead ones, received to be looked at */
    struct sq_trials *trials; /* NULL: nothing was brought back */
    int64_t due_ns;          /* when the first is due that we have delayed */

    struct broker_counts counts; /* as they were ... */
    int64_t counts_ns;       /* ... then; 0: something has changed since */
    size_t max_size;         /* of a message, says the queue */
    int64_t retention_ms;
};

/* ===== clock ===== */

/* Goes on while the machine sleeps, as a server's does. */
int64_t sq_now(void);

/* The server's, in Unix time. */
int64_t sq_server_ms(const struct sqs_broker *q);

/* ===== requests ===== */

/* Whether a request may be made again when its answer is lost. */
enum sq_again { SQ_ONCE, SQ_REPEAT };

/* Begins a request about a queue; SQ_PLACES: about none. Members may be added to
 * what it returns. */
struct bide__json *sq_begin(struct sqs_broker *q, enum sq_where where);

/* Makes the request; it ends before `deadline_ns` of sq_now() (0: a default). 0,
 * and the answer is valid until the next; or a status. */
int sq_ask(struct sqs_broker *q, const char *action, enum sq_again again,
           int64_t deadline_ns, struct sq_value *ret);

/* The fields of a request, and what an answer means: for poll.c. */
struct curl_slist *sq_fields(struct sqs_broker *q, const char *action);
void sq_set_options(struct sqs_broker *q, CURL *easy, struct curl_slist *fields,
                    const struct bide__out *body);
int sq_judge(struct sqs_broker *q, CURL *easy, CURLcode code, long status,
             const struct bide__out *answer, struct sq_value *ret);
size_t sq_keep(char *data, size_t size, size_t n, void *out);

/* ===== queues ===== */

/* Finds a queue, or makes it. 0 and q->urls[where] is set, or a status. */
int sq_find_queue(struct sqs_broker *q, enum sq_where where);
int sq_make_queue(struct sqs_broker *q, enum sq_where where);

/* All attributes of a queue. */
int sq_attributes(struct sqs_broker *q, enum sq_where where,
                  struct sq_value *ret);

#endif
