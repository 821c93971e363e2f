/* A call over libcurl from the inside: what both drivers, the blocking one and
 * the multi driver, know of a call and of each of its transfers.
 *
 *     struct bide__curl_call c;
 *     bide__curl_begin(&c, dep, easy, opts, now);
 *     while ((d = bide__curl_decide(&c, now)).action != BIDE_DONE) {
 *         if (d.action == BIDE_WAIT) {
 *             now = wait_until(d.at_ns);
 *             continue;
 *         }
 *         bide__transfer_start(&t, &c, easy, &d, now);
 *         CURLcode code = curl_easy_perform(easy);
 *         now = bide_now_ns();
 *         bide__transfer_end(&t, code, now);
 *     }
 *     bide__curl_finish(&c, d.reason, now); */
#ifndef BIDE_CURL_TRANSFER_H
#define BIDE_CURL_TRANSFER_H

#include "bide/curl.h"

struct bide__bytes {
    char *at;
    size_t len, cap;
    bool lent;               /* the driver's memory, not ours to free */
};

/* What a transfer brought, held back until it is known who wants it. */
struct bide__answer {
    struct bide__bytes head; /* lines, as libcurl gave them; if asked for */
    struct bide__bytes body;
};

struct bide__curl_call {
    bide_call call;          /* first */
    bide_dep *dep;
    const bide_policy_conf *policy; /* that of dep */
    CURL *easy;
    const bide_curl_opts *opts;
    bide_op op;              /* that of opts, and what has been learned */
    const char *method;      /* NULL: not known, or not HTTP */
    bide_reason told;        /* of the last decision */
    bool known;              /* what `method` means has been worked out */
    bool tried;              /* result.last is set */
    bool given_up;           /* cancelled by the caller */
    bool passed;             /* the last answer was passed on as it came */
    struct bide__answer answer;  /* of the last attempt that was reported */
    bide_curl_result result;

    /* The transfer whose body is being passed on: it is the call's only one. */
    const struct bide__transfer *committed;
    /* Tells a driver that may have other transfers of this call running that
     * the call should be looked at soon; or NULL. */
    void (*wake)(struct bide__curl_call *c);
};

/* One attempt. In the driver's memory, and not to be moved while it runs. */
struct bide__transfer {
    struct bide__curl_call *call;
    struct bide__transfer *next; /* for the driver's use */
    CURL *easy;
    uint32_t attempt;
    int status;              /* of the last answer; 0: ask libcurl */
    bool begun;              /* a request may have been sent, ... */
    bool answered;           /* ... and something came back */
    long connects;           /* connections made before it was begun */
    bool resent;             /* libcurl was kept from sending it again */
    bool starved;            /* no memory, no entropy: not the server's fault */
    bool passing;            /* the body goes straight to the caller */
    bool cut;                /* the rest of the body is of no use */
    bool in_head;            /* a status line came, but not the head's end */
    struct bide__answer answer;
    struct curl_slist headers[3];
    char attempt_text[32];
    char timeout_text[48];
    char key_text[56];
};

/* ===== call.c ===== */

/* opts, where it is not NULL, must outlive the call. */
void bide__curl_begin(struct bide__curl_call *c, bide_dep *dep, CURL *easy,
                      const bide_curl_opts *opts, int64_t now);
bide_decision bide__curl_decide(struct bide__curl_call *c, int64_t now);
void bide__curl_give_up(struct bide__curl_call *c);

/* Hands the last answer to the caller, ends the call, and gives the handle
 * back. c->result is then what the caller is to be told. */
void bide__curl_finish(struct bide__curl_call *c, bide_reason reason,
                       int64_t now);

/* ===== transfer.c ===== */

void bide__transfer_start(struct bide__transfer *t, struct bide__curl_call *c,
                          CURL *easy, const bide_decision *d, int64_t now);

/* Reports what the transfer came to; its answer becomes the call's. */
void bide__transfer_end(struct bide__transfer *t, CURLcode code, int64_t now);

/* Forgets a transfer that lost. */
void bide__transfer_drop(struct bide__transfer *t);

/* ===== request.c ===== */

/* True if the list has a field of this name that is not empty. */
bool bide__headers_have(const struct curl_slist *list, const char *name);

/* The headers to send: bide's own, then the application's. */
struct curl_slist *bide__request_headers(struct bide__transfer *t,
                                         int64_t now);

/* Notes the request's method: before a redirect may have changed it, and only
 * where the answer is not simply good, for then nobody asks. */
void bide__note_method(struct bide__transfer *t);

/* Notes it, and works out what it means for retrying. Only once there was a
 * connection: not before that libcurl knows what is spoken there. */
void bide__curl_learn(struct bide__transfer *t);

/* How many connections libcurl has made for a transfer so far. */
long bide__curl_connects(CURL *easy);

/* A CURLOPT_PREREQFUNCTION: the connection stands, the request is next. */
int bide__request_ready(void *transfer, char *ip, char *local_ip, int port,
                        int local_port);

/* ===== answer.c ===== */

size_t bide__answer_write(char *data, size_t size, size_t n, void *transfer);
size_t bide__answer_header(char *data, size_t size, size_t n, void *transfer);

/* Hands an answer that was held back to the caller; false if it refuses. */
bool bide__answer_deliver(struct bide__curl_call *c,
                          const struct bide__answer *a);
void bide__answer_free(struct bide__answer *a);

/* Gives back what was reserved for more to come: it may be kept for long. */
void bide__answer_trim(struct bide__answer *a);

/* ===== classify.c ===== */

/* What is known of a transfer beyond what its handle tells. */
struct bide__facts {
    const char *method;
    bool not_sent;
    bool unanswered;         /* the status is of a request before this one */
    bool status_only;        /* it is still under way: no fault yet */
    const void *body;
    size_t body_len;
};

/* A success that none but a rule of the policy would look at any closer. Most
 * answers are of this kind, and should cost nothing. */
static inline bool bide__is_good_answer(const bide_policy_conf *policy,
                                        CURLcode code, long status)
{
    return code == CURLE_OK && status >= 200 && status < 400 &&
           (!policy || policy->n_rules == 0);
}

bide_outcome bide__curl_classify(const bide_dep *dep, CURL *easy, CURLcode code,
                                 const struct bide__facts *facts);

/* True if no byte of a request can have left. */
bool bide__curl_unsent(CURL *easy);

#endif
