/* The internals of a call over libcurl: what both drivers, the blocking one and
 * the multi driver, know about a call and each of its transfers.
 *
 *     struct bide__curl_call c;
 *     bide__curl_begin(&c, dep, easy, opts, now);
 *     while ((d = bide__curl_decide(&c, now)).action != BIDE_DONE) {
 *         if (d.action == BIDE_WAIT) {
 *             now = wait_until(d.at_ns);
 *             continue;
 *         }
 *         bide__transfer_start(&t, &c, easy, &d);
 *         CURLcode code = curl_easy_perform(easy);
 *         now = bide_now_ns();
 *         bide__transfer_end(&t, code, now);
 *     }
 *     bide__curl_finish(&c, d.reason, now); */
#ifndef BIDE_CURL_TRANSFER_H
#define BIDE_CURL_TRANSFER_H

#include "bide/claim.h"
#include "bide/curl.h"
#include "curl/answer.h"
#include "curl/handle.h"

struct bide__curl_call {
    bide_call call;          /* first */
    bide_dep *dep;
    const bide_policy_conf *policy; /* that of dep */
    CURL *easy;
    const bide_curl_opts *opts;
    struct bide__handle handle;
    bide_op op;              /* that of opts, and what has been learned */
    struct curl_slist *headers; /* opts.headers without claims: see claim.c */
    struct curl_slist *header_nodes; /* their memory, if not the application's */
    char *baggage;           /* the application's, without bide's; or NULL */
    size_t baggage_len;
    const char *method;      /* NULL: not known, or not HTTP */
    bide_reason told;        /* of the last decision */
    bool known;              /* what `method` means has been determined */
    bool tried;              /* result.last is set */
    bool given_up;           /* cancelled by the caller */
    bool passed;             /* the last response was streamed */
    struct bide__answer answer;  /* of the last attempt that was reported */
    bide_curl_result result;

    /* The transfer whose body is being streamed: it is the call's only one. */
    const struct bide__transfer *committed;
    /* Asks a driver that may have other transfers of this call running to look
     * at the call soon; or NULL. */
    void (*wake)(struct bide__curl_call *c);
};

/* One attempt. In the driver's memory, which must not move while it runs. */
struct bide__transfer {
    struct bide__curl_call *call;
    struct bide__transfer *next; /* for the driver's use */
    CURL *easy;
    uint32_t attempt;
    int status;              /* of the last response; 0: ask libcurl */
    bool begun;              /* a request may have been sent, ... */
    bool answered;           /* ... and something was received */
    long connects;           /* connections opened before it was begun */
    bool fresh;              /* ... and it is the first on its own */
    bool resent;             /* libcurl was prevented from sending it again */
    bool refused;            /* ... which it meant to do after REFUSED_STREAM */
    bool starved;            /* no memory, no entropy: not the server's fault */
    bool passing;            /* the body is streamed to the caller */
    bool cut;                /* the rest of the body is not needed */
    bool in_head;            /* after a status line, before the head's end */
    bool has_read;           /* some of the request's body */
    long head_size;          /* received before it was begun */
    struct bide__answer answer;
    char *baggage;           /* a field that is longer than the text below */
    struct curl_slist headers[4];
    char attempt_text[48];
    char timeout_text[48];
    char baggage_text[BIDE_BAGGAGE_OWN + 16];
    char key_text[56];
};

/* ===== call.c ===== */

/* opts, where it is not NULL, must outlive the call. */
void bide__curl_begin(struct bide__curl_call *c, bide_dep *dep, CURL *easy,
                      const bide_curl_opts *opts, int64_t now);
bide_decision bide__curl_decide(struct bide__curl_call *c, int64_t now);
void bide__curl_give_up(struct bide__curl_call *c);

/* Delivers the last response to the caller, ends the call, and releases the
 * handle. c->result is then the result for the caller. */
void bide__curl_finish(struct bide__curl_call *c, bide_reason reason,
                       int64_t now);

/* ===== transfer.c ===== */

/* As libcurl has timeouts: 0 is none. */
long bide__timeout_ms(int64_t timeout_ns);

void bide__transfer_start(struct bide__transfer *t, struct bide__curl_call *c,
                          CURL *easy, const bide_decision *d);

/* Reports the outcome of the transfer; its response becomes the call's. */
void bide__transfer_end(struct bide__transfer *t, CURLcode code, int64_t now);

/* Drops a transfer that lost. */
void bide__transfer_drop(struct bide__transfer *t);

#endif
