/* The scripted fault server from the inside; server.c tells its grammar. */
#ifndef BIDE_TEST_FAULT_H
#define BIDE_TEST_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEXT_MAX = 256, VALUE_MAX = 2048, STEP_HEAD_MAX = 4096 };

/* ===== bytes.c ===== */

struct bytes {
    char *at;
    size_t len, cap;
};

void bytes_add(struct bytes *b, const void *data, size_t len);
void bytes_addf(struct bytes *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void bytes_skip(struct bytes *b, size_t len); /* drops them from the front */
void bytes_free(struct bytes *b);

/* ===== request.c ===== */

/* A request, as far as it has come. */
struct request {
    char method[16];
    char path[8192];          /* raw, without the query */
    char query[1024];
    char id[TEXT_MAX];        /* query, header, or path */
    char key[TEXT_MAX];       /* Idempotency-Key */
    char attempt[TEXT_MAX];   /* X-Bide-Attempt */
    char timeout[TEXT_MAX];   /* X-Bide-Timeout-Ms */
    char traceparent[TEXT_MAX];
    char baggage[TEXT_MAX];   /* of the last such field */
    char range[TEXT_MAX];
    char if_range[TEXT_MAX];
    bool has_length, chunked, expects, closes;
    size_t length;            /* of the body, as announced */
    size_t got;               /* of it so far */
};

/* Reads a head from the front of `in` and takes it out: 1; 0: more is needed;
 * -1: it is none. */
int request_head(struct request *r, struct bytes *in);

/* Takes body bytes out of `in`; true when the body is complete. */
bool request_body(struct request *r, struct bytes *in);

/* The value of a query parameter, decoded; false if it is not there. */
bool query_value(const char *query, const char *name, char *out, size_t size);
void url_decode(const char *from, size_t len, char *out, size_t size);

/* ===== script.c ===== */

enum ending { END_KEEP, END_CLOSE, END_RESET, END_STALL };
enum place { AT_END, AT_START, IN_HEAD, IN_BODY };

/* What is done with one request. */
struct step {
    int status;
    enum ending ending;       /* and where: */
    enum place where;
    long wait_ms;             /* before the first byte */
    long pause_ms;            /* amid the body */
    long trickle_ms;          /* after each byte */
    long lie;                 /* added to Content-Length */
    size_t body_len;
    const char *body;         /* NULL: a pattern */
    char text[VALUE_MAX];
    char head[STEP_HEAD_MAX]; /* further header lines */
    bool chunked;
    bool early;               /* do not wait for the request's body */
};

/* Reads the step for the nth request (from 1); false: no such script. */
bool script_step(const char *path, const char *id, unsigned nth,
                 struct step *ret);

/* ===== record.c ===== */

struct record;
struct record *record_arrived(const struct request *r, unsigned connection,
                              unsigned *ret_nth);
void record_complete(struct record *record, unsigned nth, size_t body);
void records_forget(void);
void records_show(const char *id, struct bytes *out); /* NULL: all, summed up */
void records_list(struct bytes *out);

#endif
